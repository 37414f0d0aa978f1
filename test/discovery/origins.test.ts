import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { discoverPacks } from "../../src/index.ts";
import { describeOrigins, describePacks } from "../support/listing.ts";
import { makeTree, packManifest } from "../support/packs.ts";

const list = async (tree: Record<string, unknown>, folder = ".") => {
  const { packs } = await discoverPacks({ cwd: join(makeTree(tree), folder) });
  return describeOrigins(packs);
};

describe("origins of packs", () => {
  test.each(["devDependencies", "peerDependencies"])(
    "a pack declared in the project's %s is `direct`",
    async (kind) => {
      expect(
        await list({
          "package.json": { name: "app", [kind]: { "@acme/jira": "^1.0.0" } },
          "node_modules/@acme/jira/package.json": packManifest("@acme/jira"),
        }),
      ).toEqual(["@acme/jira@1.0.0 direct enabled"]);
    },
  );

  test("a dependency name that another package has in its package.json is the name it is installed under", async () => {
    const root = makeTree({
      "package.json": {
        name: "app",
        dependencies: { tracker: "npm:@acme/jira@^1.0.0", notes: "npm:@acme/jira@1" },
      },
      "node_modules/tracker/package.json": packManifest("@acme/jira", { trailblaze: { tools: ["a"] } }),
      "node_modules/notes/package.json": packManifest("@acme/jira"),
    });
    const { packs } = await discoverPacks({ cwd: root });
    expect(describePacks(packs)).toEqual([
      "notes@1.0.0 direct enabled",
      "tracker@1.0.0 direct enabled | tools: a",
    ]);
    expect(packs[1]).toMatchObject({ packageName: "@acme/jira", tools: [{ qualifiedName: "tracker/a" }] });
    const args = { name: "tracker", packageName: "@acme/jira" };
    expect(packs[1]?.problems).toMatchObject([
      { code: "AliasedPack", severity: "info", pack: "tracker", file: "package.json", line: 2, args },
    ]);
  });

  test("dependency names that lead out of node_modules are ignored", async () => {
    const root = makeTree({
      "app/package.json": {
        name: "app",
        dependencies: { "../../outside": "*", "..": "*", "@x/../../outside": "*", __proto__x: "*" },
      },
      "node_modules/ok/package.json": { name: "ok" },
      "outside/package.json": packManifest("outside"),
    });
    expect(describeOrigins((await discoverPacks({ cwd: join(root, "app") })).packs)).toEqual([]);
  });
});

test("a listing is ordered by name, version and location, regardless of folder names", async () => {
  const root = makeTree({
    "package.json": { name: "app" },
    "node_modules/@acme/a/package.json": packManifest("@acme/a"),
    "node_modules/b/node_modules/notes/package.json": packManifest("notes", { version: "10.0.0" }),
    "node_modules/b/package.json": { name: "b" },
    "node_modules/c/node_modules/notes/package.json": packManifest("notes", { version: "9.0.0" }),
    "node_modules/c/package.json": { name: "c" },
    "node_modules/d/node_modules/notes/package.json": packManifest("notes", { version: "9.0.0-beta.1" }),
    "node_modules/d/package.json": { name: "d" },
    "node_modules/e/node_modules/notes/package.json": packManifest("notes", { version: "9.0.0" }),
    "node_modules/e/package.json": { name: "e" },
    "node_modules/Upper/package.json": packManifest("Upper"),
  });
  const { packs } = await discoverPacks({ cwd: root, all: true });
  expect(
    packs.map(({ name, version, location }) => [name, version, location.slice(root.length + 14)]),
  ).toEqual([
    ["@acme/a", "1.0.0", "@acme/a"],
    ["Upper", "1.0.0", "Upper"],
    ["notes", "9.0.0-beta.1", "d/node_modules/notes"],
    ["notes", "9.0.0", "c/node_modules/notes"],
    ["notes", "9.0.0", "e/node_modules/notes"],
    ["notes", "10.0.0", "b/node_modules/notes"],
  ]);
});
