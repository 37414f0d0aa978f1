// Projects of Yarn Plug'n'Play, whose state file is read as data.
import { existsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { run as runValidate } from "../../src/cli/commands/validate.ts";
import { discoverPacks, inspectItem, validateExtension } from "../../src/index.ts";
import { openSession } from "../../src/session.ts";
import { describeOrigins } from "../support/listing.ts";
import { makeZip, type ZipEntry } from "../support/make-zip.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { formatPnp, state, zipPackage as zip } from "../support/plug-and-play.ts";
import type { Tree } from "../support/tree.ts";

const jira = packManifest("@acme/jira", { version: "1.2.0", dependencies: { notes: "^1.0.0" } });
const notes = packManifest("notes");
const app = { name: "app", version: "1.0.0", dependencies: { "@acme/jira": "^1.2.0" } };

const jiraZip = ".yarn/cache/@acme-jira-npm-1.2.0-1a.zip";
const notesZip = ".yarn/cache/notes-npm-1.0.0-2b.zip";
const usual = state(
  [
    null,
    [
      [
        null,
        "./",
        [
          ["@acme/jira", "npm:1.2.0"],
          ["missing-peer", null],
        ],
      ],
    ],
  ],
  ["app", [["workspace:.", "./", [["@acme/jira", "npm:1.2.0"]]]]],
  [
    "@acme/jira",
    [["npm:1.2.0", `./${jiraZip}/node_modules/@acme/jira/`, [["notes", ["notes", "npm:1.0.0"]]]]],
  ],
  [
    "notes",
    [
      ["npm:1.0.0", `./${notesZip}/node_modules/notes/`, []],
      ["virtual:x#npm:1.0.0", `./.yarn/__virtual__/notes-virtual-3c/1/${notesZip}/node_modules/notes/`, []],
      ["virtual:y#npm:1.0.0", `./.yarn/$$virtual/notes-virtual-4d/1/${notesZip}/node_modules/notes/`, []],
    ],
  ],
);

function makeProject(more: Tree = {}, archives: Record<string, Buffer> = {}): string {
  const root = makeTree({
    "package.json": app,
    ".pnp.cjs": formatPnp(usual),
    ".yarn/cache/.gitignore": "*",
    ...more,
  });
  const all = { [jiraZip]: zip(jira), [notesZip]: zip(notes), ...archives };
  for (const [path, bytes] of Object.entries(all)) writeFileSync(join(root, path), bytes);
  return root;
}

test("packs in archives are listed as npm's would be, and nothing runs", async () => {
  const root = makeProject();
  const { packs, problems } = await discoverPacks({ cwd: root });
  expect(describeOrigins(packs)).toEqual([
    "@acme/jira@1.2.0 direct disabled",
    "notes@1.0.0 transitive disabled",
  ]);
  expect(packs.map(({ archived, location }) => [archived, location])).toEqual([
    [true, `${root}/${jiraZip}/node_modules/@acme/jira/`],
    [true, `${root}/${notesZip}/node_modules/notes/`],
  ]);
  expect(problems).toEqual([]);
  const found = packs.flatMap((pack) => pack.problems);
  expect(found).toMatchObject([
    { code: "UnsupportedLayout", severity: "warning", hint: "Run `yarn unplug @acme/jira`." },
    { code: "UnsupportedLayout", severity: "warning", hint: "Run `yarn unplug notes --all --recursive`." },
  ]);
  await inspectItem("@acme/jira", { cwd: root }).catch(() => {});
  expect(existsSync(join(root, "canary"))).toBe(false);
  expect(() => createRequire(import.meta.url)(join(root, ".pnp.cjs"))).toThrow("It's run.");
  expect(existsSync(join(root, "canary"))).toBe(true);
});

test("a workspace member has its own direct packs, and unplugged packs are folders", async () => {
  const unplugged = ".yarn/unplugged/notes-npm-1.0.0-2b/node_modules/notes";
  const root = makeProject({
    "package.json": { ...app, workspaces: ["packages/*"] },
    "packages/web/package.json": { name: "web", dependencies: { notes: "1" } },
    ".pnp.cjs": formatPnp(
      state(
        ["app", [["workspace:.", "./", [["@acme/jira", "npm:1.2.0"]]]]],
        ["web", [["workspace:packages/web", "./packages/web/", [["notes", "npm:1.0.0"]]]]],
        ["@acme/jira", [["npm:1.2.0", `./${jiraZip}/node_modules/@acme/jira/`, []]]],
        ["notes", [["npm:1.0.0", `./${unplugged}/`, []]]],
      ),
    ),
    [`${unplugged}/package.json`]: notes,
  });
  const { packs } = await discoverPacks({ cwd: join(root, "packages/web") });
  expect(describeOrigins(packs)).toEqual([
    "@acme/jira@1.2.0 transitive disabled",
    "notes@1.0.0 direct enabled",
  ]);
});

test("a dependency that is installed under an alias is direct", async () => {
  const root = makeProject({
    "package.json": { name: "app", dependencies: { tracker: "npm:@acme/jira@1.2.0" } },
    ".pnp.cjs": formatPnp(
      state(
        ["app", [["workspace:.", "./", [["tracker", ["@acme/jira", "npm:1.2.0"]]]]]],
        ["@acme/jira", [["npm:1.2.0", `./${jiraZip}/node_modules/@acme/jira/`, []]]],
      ),
    ),
  });
  const { packs } = await discoverPacks({ cwd: root });
  expect(describeOrigins(packs)).toEqual(["@acme/jira@1.2.0 direct disabled"]);
  expect(packs[0]?.problems[0]?.hint).toBe("Run `yarn unplug @acme/jira`.");
});

test("a place in an archive that is not named after a package is not read", async () => {
  const root = makeProject({
    ".pnp.cjs": formatPnp(
      state(
        ["app", [["workspace:.", "./", []]]],
        ["@acme/jira", [["npm:1.2.0", `./${jiraZip}/node_modules/../`, []]]],
      ),
    ),
  });
  expect(await discoverPacks({ cwd: root })).toMatchObject({ packs: [], problems: [] });
});

test("the state is also read from .pnp.data.json", async () => {
  const root = makeProject({ ".pnp.cjs": "module.exports = 1;", ".pnp.data.json": usual });
  const { packs, problems } = await discoverPacks({ cwd: root });
  expect(packs).toHaveLength(2);
  expect(problems).toEqual([]);
});

test.each([
  ["no state", "throw new Error('run');"],
  ["an unfinished literal", "const RAW_RUNTIME_STATE = '{"],
  ["a state that is no JSON", "const RAW_RUNTIME_STATE = 'x';"],
  ["a state of another project", formatPnp(state(["other", [["workspace:.", "./other/", []]]]))],
])("a file with %s is UnsupportedLayout for the project", async (_, text) => {
  const { packs, problems } = await discoverPacks({ cwd: makeProject({ ".pnp.cjs": text }) });
  expect(packs).toEqual([]);
  expect(problems).toMatchObject([{ code: "UnsupportedLayout", severity: "error", args: { layout: "pnp" } }]);
});

const path = "node_modules/@acme/jira/package.json";
const content = JSON.stringify(jira);
test.each<[string, Buffer, string]>([
  ["two entries of one name", zip(jira, { name: path, content }), "two entries"],
  ["an encrypted entry", makeZip([{ name: path, content, flags: 1 }]), "encrypted"],
  [
    "a size that is too small",
    makeZip([{ name: path, content: " ".repeat(1e6), bytes: 10 }]),
    "larger than it says",
  ],
  [
    "a size that is too large",
    makeZip([{ name: path, content, bytes: 900 }]),
    "not what the archive's directory says",
  ],
  ["a size that no archive has", makeZip([{ name: path, content, bytes: 0xffffffff }]), "ZIP64"],
  ["a link", makeZip([{ name: path, content: "../x", mode: 0o120777 }]), "no regular file"],
  ["a cut end", zip(jira).subarray(0, -1), "no ZIP archive"],
  ["no content", Buffer.alloc(0), "no ZIP archive"],
])("an archive with %s is MalformedArchive, an error for a direct dependency", async (_, bytes, reason) => {
  const root = makeProject({}, { [jiraZip]: bytes });
  const { packs, problems } = await discoverPacks({ cwd: root });
  expect(packs.map(({ name }) => name)).toEqual(["notes"]);
  expect(problems).toMatchObject([
    {
      code: "MalformedArchive",
      severity: "error",
      pack: "@acme/jira",
      args: { archive: join(root, jiraZip) },
    },
  ]);
  expect(problems[0]?.message).toContain(reason);
});

test("a broken archive of a transitive package is a warning, and one over 1 MiB is PackageJsonTooLarge", async () => {
  const large = { ...notes, padding: "x".repeat(1 << 20) };
  const codesOf = async (bytes: Buffer) => {
    const { problems } = await discoverPacks({ cwd: makeProject({}, { [notesZip]: bytes }) });
    return problems.map(({ code, severity }) => [code, severity]);
  };
  expect(await codesOf(Buffer.from("no archive"))).toEqual([["MalformedArchive", "warning"]]);
  expect(await codesOf(zip(large))).toEqual([["PackageJsonTooLarge", "warning"]]);
});

const tool = (name: string) => ({
  name,
  description: `The tool ${name}.`,
  inputSchema: { type: "object" },
  handler: "./x.js#x",
});
const withTools = packManifest("@acme/jira", { version: "1.2.0", trailblaze: { tools: ["data", "code"] } });
const ownFile = (name: string, content: string, mode?: number): ZipEntry => ({
  name: `node_modules/@acme/jira/${name}`,
  content,
  ...(mode === undefined ? {} : { mode }),
});

test("definitions that are data are read from an archive, and those that are code are not", async () => {
  const root = makeProject(
    {},
    {
      [jiraZip]: zip(
        withTools,
        ownFile("trailblaze/tools/data.json", JSON.stringify(tool("data"))),
        ownFile(
          "trailblaze/tools/code.mjs",
          `import { writeFileSync } from "node:fs"; writeFileSync("canary", "");`,
        ),
      ),
    },
  );
  const data = await inspectItem("acme/jira/data", { cwd: root });
  expect(data.definition).toMatchObject({ name: "data" });
  const code = await inspectItem("acme/jira/code", { cwd: root });
  expect(code.definition).toBeNull();
  expect(code.problems).toMatchObject([{ code: "UnsupportedLayout", severity: "error", item: "code" }]);
  const { problems } = await validateExtension("@acme/jira", { cwd: root });
  expect(problems).toContainEqual(expect.objectContaining({ code: "UnsupportedLayout", item: "code" }));
  expect(problems.map((problem) => problem.code)).not.toContain("InvalidDefinitionContents");
  const options = { "as-installed": true, yes: true };
  const answer = await runValidate({ positionals: ["@acme/jira"], options, cwd: root });
  expect(answer.failed).toBe(true);
  expect(answer.problems.at(-1)).toMatchObject({
    code: "UnsupportedLayout",
    hint: "Run `yarn unplug @acme/jira`.",
  });
});

const definition = JSON.stringify(tool("data"));
const data = ownFile("trailblaze/tools/data.json", definition);
test.each<[string, ZipEntry[], string]>([
  ["a name that leads out of it", [data, { name: "../../evil", content: "" }], "name ../../evil"],
  ["two definitions of one name", [data, data], "two entries"],
  ["an encrypted file", [data, { ...ownFile("x.txt", ""), flags: 1 }], "encrypted"],
  ["a link as a definition", [{ ...data, content: "../../secret", mode: 0o120777 }], "no regular file"],
  ["a definition of another size", [{ ...data, bytes: 10 }], "larger than it says"],
])("an archive with %s is MalformedArchive when definitions are read", async (_, entries, reason) => {
  const one = packManifest("@acme/jira", { version: "1.2.0", trailblaze: { tools: ["data"] } });
  const root = makeProject({}, { [jiraZip]: zip(one, ...entries) });
  const found = await inspectItem("acme/jira/data", { cwd: root });
  expect(found.definition).toBeNull();
  expect(found.problems).toMatchObject([{ code: "MalformedArchive", pack: "@acme/jira", severity: "error" }]);
  expect(found.problems[0]?.message).toContain(reason);
});

test("a session leaves packs in archives out, and calls say why", async () => {
  const root = makeProject({}, { [jiraZip]: zip(withTools) });
  await using session = await openSession({ cwd: root });
  expect(session.tools).toEqual([]);
  expect(session.skipped).toMatchObject([
    { name: "data", reason: "UnsupportedLayout" },
    { name: "code", reason: "UnsupportedLayout" },
  ]);
  await expect(session.callTool("acme/jira/data", {})).rejects.toMatchObject({ code: "UnsupportedLayout" });
});
