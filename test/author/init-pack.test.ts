import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createPack, type TemplateName } from "../../src/author/init-pack.ts";
import { applyEdits } from "../../src/files/edit.ts";
import { validateExtension } from "../../src/index.ts";
import { makeTree } from "../support/packs.ts";

/** An error whose reason names this. */
const refusal = (named: string) =>
  expect.objectContaining({
    code: "InvalidArguments",
    problem: expect.objectContaining({
      args: expect.objectContaining({ reason: expect.stringContaining(named) }),
    }),
  });

const make = (directory: string, template: TemplateName, name?: string) =>
  createPack(directory, { template, name });

describe("the name of a new pack", () => {
  test.each(["@acme/web-search", "3d-print", `x${"y".repeat(213)}`])(
    "the name %s gives a pack without problems",
    async (name) => {
      const directory = makeTree({});
      for (const template of ["composed", "bundle"] as const) {
        const made = make(join(directory, template), template, name);
        expect((await validateExtension(made.directory, { strict: true })).problems).toEqual([]);
      }
    },
  );

  test.each(["", "My-Tools", "../up", "node_modules", "a".repeat(215)])(
    "the name %j is rejected, and nothing is created",
    (name) => {
      const directory = join(makeTree({}), "new");
      expect(() => make(directory, "data", name)).toThrow(refusal("not a valid name"));
      expect(existsSync(directory)).toBe(false);
    },
  );

  test("the name defaults to the folder's name if npm allows it", () => {
    const parent = makeTree({});
    expect(createPack(join(parent, "My Tools")).name).toBe("my-tools");
    expect(() => createPack(join(parent, "道具"))).toThrow(refusal("道具"));
    expect(createPack(join(parent, "道具"), { name: "@acme/tools" }).name).toBe("@acme/tools");
  });
});

describe("the folder of a new pack", () => {
  test("a file in place of the folder is rejected and not changed", () => {
    const file = join(makeTree({}), "file");
    writeFileSync(file, "mine");
    expect(() => make(file, "data", "tools")).toThrow(refusal("folder"));
    expect(() => make(join(file, "below"), "data", "tools")).toThrow(refusal("not a directory"));
    expect(readFileSync(file, "utf8")).toBe("mine");
  });

  test("an empty or missing folder is filled, and missing parents are created", () => {
    const directory = makeTree({});
    expect(make(directory, "data", "tools").directory).toBe(directory);
    const deep = join(directory, "new/deeper/still");
    expect(make(deep, "data", "tools").files.sort()).toEqual(
      readdirSync(deep, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) =>
          join(entry.parentPath, entry.name)
            .slice(deep.length + 1)
            .replaceAll("\\", "/"),
        )
        .sort(),
    );
  });

  test("after a failed write, created files and folders are removed", () => {
    const parent = makeTree({});
    const edits = ["a/b/first.txt", `a/${"x".repeat(300)}`].map((path) => {
      return { file: join(parent, "new/pack", path), before: undefined, after: "1" };
    });
    expect(() => applyEdits(edits)).toThrow(refusal("long"));
    expect(readdirSync(parent)).toEqual([]);
  });
});
