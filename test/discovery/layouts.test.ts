import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { discoverPacks } from "../../src/index.ts";
import { describeOrigins } from "../support/listing.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { makeLink } from "../support/special-files.ts";
import type { Tree } from "../support/tree.ts";

const jira = packManifest("@acme/jira", { version: "1.2.0", dependencies: { notes: "^1.0.0" } });
const notes = packManifest("notes");
const app = { name: "app", dependencies: { "@acme/jira": "^1.2.0" } };

/** What every layout of this project must give. */
const expected = ["@acme/jira@1.2.0 direct enabled", "notes@1.0.0 transitive on demand"];

async function expectExpected(cwd: string): Promise<void> {
  const { packs, problems } = await discoverPacks({ cwd, all: true });
  expect(describeOrigins(packs)).toEqual(expected);
  const declared = await discoverPacks({ cwd });
  expect(describeOrigins(declared.packs)).toEqual([expected[0]]);
  expect(declared.problems).toEqual([]);
  expect(problems).toEqual([]);
  for (const { location } of packs) expect(location.startsWith("/")).toBe(true);
}

const direct = { "node_modules/@acme/jira/package.json": jira };
const hoisted = { ...direct, "node_modules/notes/package.json": notes };

/** A project's files, and its links: targets by paths. */
type Layout = [what: string, tree: Tree, links?: Readonly<Record<string, string>>];

test.each<Layout>([
  [
    "hoisted",
    {
      ...hoisted,
      "node_modules/.package-lock.json": { packages: { "node_modules/ghost": { trailblaze: {} } } },
      "node_modules/.bin/notes": "",
      "node_modules/.cache/ghost/package.json": packManifest("ghost"),
      "node_modules/README.md": "no package",
      "node_modules/empty/index.js": "",
      "node_modules/@acme/file.txt": "no package",
    },
  ],
  [
    "reached by several links",
    { "real/package.json": jira, "node_modules/notes/package.json": notes },
    {
      "node_modules/@acme/jira": "../../real",
      "node_modules/again": "../real",
      "node_modules/and-again": "again",
      "node_modules/notes/node_modules/jira": "../../../real",
    },
  ],
  [
    "among circular links",
    hoisted,
    {
      "node_modules/notes/node_modules/up": "../..",
      "node_modules/self": "..",
      "node_modules/pong": "ping",
      "node_modules/ping": "pong",
      "node_modules/ouroboros": "ouroboros",
      "node_modules/@acme/jira/node_modules": "../../../node_modules",
      "node_modules/@loop": "@loop",
      "node_modules/@acme/@acme": ".",
    },
  ],
])("packages that are %s are found", async (_what, tree, links = {}) => {
  const root = makeTree({ "package.json": app, ...tree });
  for (const [path, target] of Object.entries(links)) makeLink(target, join(root, path));
  await expectExpected(root);
});

/** A project whose packs are in an isolated store, each with its own node_modules. */
function makeIsolated(
  store: string,
  manifest: object,
  files: Tree = {},
): { root: string; locations: string[] } {
  const inJira = `node_modules/${store}/@acme+jira@1.2.0/node_modules`;
  const inNotes = `node_modules/${store}/notes@1.0.0/node_modules`;
  const root = makeTree({
    "package.json": manifest,
    [`${inJira}/@acme/jira/package.json`]: jira,
    [`${inNotes}/notes/package.json`]: notes,
    ...files,
  });
  makeLink(join(root, inJira, "@acme/jira"), join(root, "node_modules/@acme/jira"));
  makeLink(join(root, inNotes, "notes"), join(root, inJira, "notes"));
  return { root, locations: [join(root, inJira, "@acme/jira"), join(root, inNotes, "notes")] };
}

test("packs in pnpm's default store are found", async () => {
  const { root, locations } = makeIsolated(".pnpm", app, { "node_modules/.pnpm/lock.yaml": "" });
  const { packs } = await discoverPacks({ cwd: root, all: true });
  expect(packs.map(({ location }) => location)).toEqual(locations);
  await expectExpected(root);
});

describe("Deno's layouts", () => {
  test("transitive packs in Deno's store are found, and the project is not found twice", async () => {
    const { root } = makeIsolated(".deno", packManifest("app", { dependencies: app.dependencies }), {
      "deno.lock": "{}",
      "node_modules/.deno/.deno.lock": "",
      // Of the version before.
      "node_modules/.deno/app@0.9.0/node_modules/app/package.json": packManifest("app", { version: "0.9.0" }),
    });
    const { packs, problems } = await discoverPacks({ cwd: root, all: true });
    expect(describeOrigins(packs)).toEqual([...expected, "app@1.0.0 self enabled"].sort());
    expect(problems).toEqual([]);
  });

  test.each(["deno.json", "deno.lock"])("without node_modules, %s is reported", async (file) => {
    const root = makeTree({ "package.json": app, [file]: "{}" });
    const args = { layout: "deno", file: join(root, file) };
    const hint = expect.stringContaining('"nodeModulesDir": "auto"');
    expect((await discoverPacks({ cwd: root })).problems).toMatchObject([
      { code: "UnsupportedLayout", severity: "error", args, hint },
    ]);
  });
});

test("Plug'n'Play is reported, and the project's own packs are listed", async () => {
  const root = makeTree({
    "package.json": packManifest("app", { workspaces: ["packages/*"] }),
    "packages/notes/package.json": notes,
    ".pnp.cjs": "throw new Error('run');",
  });
  const args = { layout: "pnp", file: join(root, ".pnp.cjs") };
  for (const cwd of [root, join(root, "packages/notes")]) {
    const { packs, problems } = await discoverPacks({ cwd });
    expect(packs.map(({ name }) => name)).toEqual(["app", "notes"]);
    expect(problems).toMatchObject([{ code: "UnsupportedLayout", severity: "error", args }]);
  }
});

test("a link to an outside folder, as npm makes for file: dependencies, has that folder as location", async () => {
  const outside = makeTree({ "package.json": jira, "node_modules/notes/package.json": notes });
  const root = makeTree({ "package.json": app });
  makeLink(outside, join(root, "node_modules/@acme/jira"));
  await expectExpected(root);
  expect((await discoverPacks({ cwd: root })).packs[0]?.location).toBe(outside);
});
