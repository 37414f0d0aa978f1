import { expect, inject, test } from "vitest";
import { addKillsWith } from "../../soak/add-kills.ts";
import { formatResult } from "../../soak/support/format-result.ts";
import { runPart } from "../../soak/support/run-part.ts";

test("a killed addition leaves a project that can be restored or added to", async () => {
  const result = await runPart(addKillsWith(inject("registry")), { seed: 3, steps: 1 });
  expect(formatResult("add-kills", result, 0)).toMatch(/: held$/);
});
