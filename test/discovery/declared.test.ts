import { chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findPacks } from "../../src/discovery/find-packs.ts";
import { discoveryPort as port } from "../../src/files/node-discovery-port.ts";
import { type DiscoveryOptions, discoverPacks } from "../../src/index.ts";
import { describeOrigins } from "../support/listing.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { makeLink } from "../support/special-files.ts";

const list = async (cwd: string, options: DiscoveryOptions = {}) =>
  describeOrigins((await discoverPacks({ cwd, ...options })).packs);

const version = (name: string, number: string) => packManifest(name, { version: number });

describe("packs that a project declares", () => {
  test("what the project does not declare is not listed, and nothing but declared package.json files is read", async () => {
    const root = makeTree({
      "package.json": { name: "app", dependencies: { desk: "*", "@acme/jira": "*", gone: "*" } },
      "node_modules/desk/package.json": { name: "desk", dependencies: { notes: "*" } },
      "node_modules/notes/package.json": packManifest("notes"),
      "node_modules/@acme/jira/package.json": packManifest("@acme/jira"),
      "node_modules/@acme/jira/node_modules/deep/package.json": packManifest("deep"),
    });
    const read: string[] = [];
    const { packs } = await findPacks(
      {
        ...port,
        listDirectory: () => {
          throw new Error("A folder is listed.");
        },
        readManifest: (directory) => {
          read.push(directory.slice(root.length));
          return port.readManifest(directory);
        },
      },
      { cwd: root },
    );
    expect(packs.map(({ pack }) => pack.name)).toEqual(["@acme/jira"]);
    expect(new Set(read.filter((path) => path.startsWith("/node_modules")))).toEqual(
      new Set(["/node_modules/desk", "/node_modules/@acme/jira", "/node_modules/gone"]),
    );
  });

  test.each([
    ["a link to itself", (path: string) => makeLink("notes", path)],
    ["a folder without package.json", (path: string) => mkdirSync(path)],
  ])(
    "a declared package that is %s is not installed there, and the folders above are searched",
    async (_, make) => {
      const root = makeTree({
        "package.json": { name: "outer" },
        "app/package.json": { name: "app", dependencies: { notes: "*" } },
        "app/node_modules/.bin/x": "",
      });
      make(join(root, "app/node_modules/notes"));
      const cwd = join(root, "app");
      expect(await discoverPacks({ cwd })).toMatchObject({ packs: [], problems: [] });
      mkdirSync(join(root, "node_modules/notes"), { recursive: true });
      writeFileSync(join(root, "node_modules/notes/package.json"), JSON.stringify(packManifest("notes")));
      expect(await list(cwd)).toEqual(["notes@1.0.0 direct enabled"]);
    },
  );
});

describe("packs that a workspace declares", () => {
  const workspace = {
    "package.json": { name: "root", workspaces: ["packages/*"], dependencies: { notes: "3", tools: "1" } },
    "node_modules/notes/package.json": version("notes", "3.0.0"),
    "node_modules/tools/package.json": packManifest("tools"),
    "node_modules/hoisted/package.json": packManifest("hoisted"),
    "packages/a/package.json": { name: "a", dependencies: { notes: "1", hoisted: "*" } },
    "packages/a/node_modules/notes/package.json": version("notes", "1.0.0"),
    "packages/b/package.json": { name: "b", devDependencies: { notes: "2", own: "1" } },
    "packages/b/node_modules/notes/package.json": version("notes", "2.0.0"),
    "packages/b/node_modules/own/package.json": packManifest("own"),
  };

  test("a member has its own dependencies, wherever they are installed, and those of the root", async () => {
    expect(await list(join(makeTree(workspace), "packages/a"))).toEqual([
      "hoisted@1.0.0 direct enabled",
      "notes@1.0.0 direct enabled",
      "tools@1.0.0 direct enabled",
    ]);
  });

  test("the root does not have the dependencies of its members; with `all`, the copies are shadowed", async () => {
    const root = makeTree(workspace);
    const declared = ["notes@3.0.0 direct enabled", "tools@1.0.0 direct enabled"];
    expect(await list(root)).toEqual(declared);
    expect(await list(root, { all: true })).toEqual([
      "hoisted@1.0.0 transitive on demand",
      "notes@1.0.0 transitive disabled shadowed",
      "notes@2.0.0 transitive disabled shadowed",
      declared[0],
      "own@1.0.0 transitive on demand",
      declared[1],
    ]);
  });

  describe("a root above that belongs to another user", () => {
    const makeForeign = () => {
      const root = makeTree({
        "package.json": { name: "outer", workspaces: ["project", "evil"] },
        "project/package.json": packManifest("app"),
        "evil/package.json": packManifest("evil"),
      });
      return { root, cwd: join(root, "project") };
    };

    test("such a root does not make a workspace", async () => {
      const { root, cwd } = makeForeign();
      expect((await findPacks(port, { cwd })).packs).toHaveLength(2);
      const foreign = { ...port, isTrusted: (path: string) => path !== join(root, "package.json") };
      const { packs, workspace } = await findPacks(foreign, { cwd });
      expect(packs.map(({ pack }) => pack.name)).toEqual(["app"]);
      expect(workspace).toMatchObject({ isDeclared: false, root: cwd, members: [] });
    });

    test.runIf(process.getuid?.() === 0)("the owner of the root's package.json decides", async () => {
      const { root, cwd } = makeForeign();
      chownSync(join(root, "package.json"), 12_345, 12_345);
      expect(await list(cwd)).toEqual(["app@1.0.0 self enabled"]);
      chownSync(join(cwd, "package.json"), 12_345, 12_345);
      expect(await list(cwd)).toHaveLength(2);
    });
  });
});

test("a pack that an installed package names is `transitive`, by the name it is installed as", async () => {
  const root = makeTree({
    "package.json": { name: "app", dependencies: { desk: "*" } },
    "node_modules/desk/package.json": {
      name: "desk",
      dependencies: { a: "*" },
      optionalDependencies: { b: "*" },
      peerDependencies: { tracker: "npm:@acme/jira" },
      devDependencies: { dev: "*" },
      keywords: ["stray"],
    },
    "node_modules/shelf/package.json": {
      name: "shelf",
      dependencies: { "no-pack": 'https://example.com/{"version"}.tgz', c: "*" },
    },
    "node_modules/c/package.json": packManifest("c"),
    "node_modules/a/package.json": packManifest("a"),
    "node_modules/desk/node_modules/b/package.json": packManifest("b"),
    "node_modules/tracker/package.json": packManifest("@acme/jira"),
    "node_modules/dev/package.json": packManifest("dev"),
    "node_modules/stray/package.json": packManifest("stray"),
  });
  expect(await list(root)).toEqual([]);
  const found = await discoverPacks({ cwd: root, all: true });
  expect(found.scope).toBe("all");
  expect(describeOrigins(found.packs)).toEqual([
    "a@1.0.0 transitive on demand",
    "b@1.0.0 transitive on demand",
    "c@1.0.0 transitive on demand",
    "dev@1.0.0 undeclared on demand",
    "stray@1.0.0 undeclared on demand",
    "tracker@1.0.0 transitive on demand",
  ]);
});

describe("packs.transitive", () => {
  const tree = (transitive: readonly string[]) => ({
    "package.json": { name: "app", dependencies: { desk: "*" } },
    "trailblaze.config.json": { packs: { transitive } },
    "node_modules/desk/package.json": { name: "desk" },
    "node_modules/@acme/jira/package.json": packManifest("@acme/jira", { trailblaze: { tools: ["a"] } }),
    "node_modules/@acme/other/package.json": packManifest("@acme/other"),
    "node_modules/desk/node_modules/deep/package.json": version("deep", "1.0.0"),
    "node_modules/.store/x/node_modules/deep/package.json": version("deep", "2.0.0"),
  });

  test.each([
    [["acme/jira"], ["@acme/jira@1.0.0 transitive enabled"]],
    [["acme/*"], ["@acme/jira@1.0.0 transitive enabled", "@acme/other@1.0.0 transitive enabled"]],
    [["deep"], ["deep@2.0.0 transitive enabled"]],
  ])("the patterns %j add %j", async (transitive, expected) => {
    const { packs, scope, problems } = await discoverPacks({ cwd: makeTree(tree(transitive)) });
    expect(describeOrigins(packs)).toEqual(expected);
    expect([scope, problems]).toEqual(["declared", []]);
  });
});
