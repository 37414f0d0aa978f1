import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findWorkspaces } from "../../src/discovery/workspace-members.ts";
import { discoveryPort as port } from "../../src/files/node-discovery-port.ts";
import { discoverPacks } from "../../src/index.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { makeLink } from "../support/special-files.ts";

const longName = `${"a".repeat(40)}b`;

/** A project whose `packages/lib` and `node_modules/notes` are to be found whatever its other patterns are. */
function makeProject(workspaces: unknown, files: Record<string, unknown> = {}): string {
  const root = makeTree({
    "package.json": { name: "root", dependencies: { notes: "*" }, workspaces },
    "packages/lib/package.json": packManifest("lib"),
    "node_modules/notes/package.json": packManifest("notes"),
    [`${longName}/readme.txt`]: "",
    ...files,
  });
  return root;
}

const namesOf = ({ packs }: Awaited<ReturnType<typeof discoverPacks>>) => packs.map(({ name }) => name);

test.each([
  ["braces that multiply", "{a,b}".repeat(14)],
  ["a range of numbers", "{1..10}"],
  ["a group", "@(a|b)"],
  ["a group that is excluded", "!(packages)"],
  ["a class", "[a-c]/*"],
])(
  "a pattern with %s is skipped with a problem at its place, and all other packs are listed",
  async (_what, pattern) => {
    const cwd = makeProject(["packages/*", pattern]);
    const found = await discoverPacks({ cwd });
    expect(namesOf(found)).toEqual(["lib", "notes"]);
    const place = { file: "package.json", path: ["workspaces", 1], line: expect.any(Number) };
    expect(found.problems).toMatchObject([
      { code: "WorkspaceIncomplete", severity: "warning", ...place, args: { cause: "syntax" } },
    ]);
  },
);

test.each([
  [["{apps,libs}/**"], ["deep", "desk", "lib", "web"]],
  [
    ["{apps,libs}/**", "!**/test/**"],
    ["desk", "lib", "web"],
  ],
  [
    ["apps/we{b,c}", "libs/{lib,no}{,-*}"],
    ["lib", "web"],
  ],
  [
    ["*/*", "!apps/w*"],
    ["desk", "lib"],
  ],
])("the patterns %j match %j", async (workspaces, names) => {
  const cwd = makeTree({
    "package.json": { name: "root", workspaces },
    "apps/desk/package.json": packManifest("desk"),
    "apps/web/package.json": packManifest("web"),
    "libs/lib/package.json": packManifest("lib"),
    "libs/lib/test/deep/package.json": packManifest("deep"),
  });
  const { packs, problems } = await discoverPacks({ cwd });
  expect(packs.map(({ name }) => name)).toEqual(names);
  expect(problems).toEqual([]);
});

describe("the budget of one discovery", () => {
  const search = (root: string, patterns: string[], folders = 1000) => {
    const budget = { folders };
    const found = findWorkspaces(port, root, patterns, budget);
    expect(found.skipped).toEqual([]);
    return { count: found.folders.length, isComplete: budget.folders >= 0 };
  };
  function makeFolders(count: number): string {
    const root = makeTree({ "package.json": { name: "root" } });
    for (let index = 0; index < count; index++) {
      mkdirSync(join(root, `packages/p${index}`), { recursive: true });
      writeFileSync(join(root, `packages/p${index}/package.json`), "{}");
    }
    return root;
  }

  test.each([[["packages/*"]], [["{packages,more}/*"]], [["**"]], [["packages/p*", "!packages/p1"]]])(
    "the budget limits the folders that %j leads to",
    (patterns) => {
      const root = makeFolders(30);
      const all = search(root, patterns);
      expect(all.isComplete).toBe(true);
      expect(all.count).toBeGreaterThan(28);
      const some = search(root, patterns, 10);
      expect(some.isComplete).toBe(false);
      expect(some.count).toBeLessThan(12);
    },
  );

  test("circular links are not followed", async () => {
    const root = makeProject([`${"*/".repeat(200)}*`, "*/*"], { "a/b/package.json": packManifest("b") });
    for (const [target, link] of [
      [".", "a/one"],
      [".", "a/two"],
      ["..", "a/b/up"],
      ["../..", "a/b/top"],
    ] as const)
      makeLink(target, join(root, link));
    const found = await discoverPacks({ cwd: root });
    expect(namesOf(found)).toEqual(["b", "lib", "notes"]);
    expect(found.problems).toEqual([]);
  });
});
