import { expect, test } from "vitest";
import { generateReferencePage } from "../../scripts/generate-reference-page.ts";
import { inRepository } from "../support/repository.ts";

test("docs/reference.md matches the schemas", async () => {
  await expect(generateReferencePage()).toMatchFileSnapshot(inRepository("docs/reference.md"));
});
