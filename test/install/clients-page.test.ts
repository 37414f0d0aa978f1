import { expect, test } from "vitest";
import { generateClientsPage } from "../../scripts/generate-clients-page.ts";
import { inRepository } from "../support/repository.ts";

test("docs/clients.md matches the clients' data", async () => {
  await expect(generateClientsPage()).toMatchFileSnapshot(inRepository("docs/clients.md"));
});
