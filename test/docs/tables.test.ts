import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { pageTables } from "../../scripts/page-tables.ts";
import { inRepository } from "../support/repository.ts";

test.each(["docs/reference.md", "docs/clients.md"])(
  "the tables of %s match the schemas and records",
  async (page) => {
    const filled = readFileSync(inRepository(page), "utf8").replaceAll(
      /^(<!-- table: (\w+) -->)\n(?:\|.*\n)+/gm,
      (_, marker: string, name: string) => `${marker}\n${pageTables[name]?.()}\n`,
    );
    await expect(filled).toMatchFileSnapshot(inRepository(page));
  },
);
