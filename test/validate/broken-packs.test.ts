// The sample packs are the table: each folder of broken/ yields its code and nothing else, each good pack nothing.
import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalog, type ProblemCode } from "../../src/problems/index.ts";
import { validateExtension } from "../../src/validate/validate-extension.ts";
import { scriptingPackage } from "../scripting/support/scripting-package.ts";
import { inRepository } from "../support/repository.ts";
import { samplePacks } from "../support/sample-packs.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";
import { writeTree } from "../support/tree.ts";

const brokenPacks = inRepository("fixtures/sample-plugins/broken");

/** Codes that a pack yields besides its own, where its own cannot come alone; the file says why. */
function readExpected(folder: string): string[] {
  const file = join(folder, "expected.json");
  if (!existsSync(file)) return [];
  const { codes, reason } = JSON.parse(readFileSync(file, "utf8")) as { codes: string[]; reason: string };
  expect(reason.length, file).toBeGreaterThan(20);
  return codes;
}

test.each(readdirSync(brokenPacks).sort())(
  "validate reports exactly the expected codes for the broken sample pack %s",
  async (code) => {
    const folder = join(brokenPacks, code);
    expect(Object.hasOwn(catalog, code)).toBe(true);
    const { ok, problems } = await validateExtension(folder, { strict: true });
    const codes = new Set(problems.map((problem) => problem.code));
    expect(codes).toEqual(new Set([code, ...readExpected(folder)]));
    const isInfo = catalog[code as ProblemCode].severity === "info";
    expect(ok).toBe(isInfo);
    for (const { message, file, pack } of problems) expect([message, file, pack]).not.toContain(undefined);
  },
);

describe("valid sample packs", () => {
  const project = makeTemporaryFolder();
  afterAll(project.remove);
  beforeAll(() => {
    const dependencies = Object.fromEntries(samplePacks.map(({ name, version }) => [name, version]));
    writeTree(project.path, {
      "package.json": { name: "app", version: "1.0.0", private: true, dependencies },
      ...scriptingPackage,
    });
    for (const { name, folder } of samplePacks) {
      cpSync(folder, join(project.path, "node_modules", name), { recursive: true });
    }
  });

  test.each(samplePacks)(
    "validate reports nothing for the sample pack $name, installed with the others",
    async ({ name }) => {
      const { ok, pack, problems } = await validateExtension(name, { cwd: project.path, strict: true });
      expect({ ok, pack, problems }).toEqual({ ok: true, pack: name, problems: [] });
    },
  );
});
