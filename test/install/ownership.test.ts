import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { findClient } from "../../src/install/clients/index.ts";
import { ConfigDocument } from "../../src/install/editing/config-document.ts";
import type { JsonRecord } from "../../src/install/editing/config-format.ts";
import { makeInstallPlace } from "./install-place.ts";

const server = "acme/jira/project-management";
const read = (file: string) => readFileSync(file, "utf8");

/** A place where Cursor has a config, with the path of it. */
function makeCursorPlace(text: string) {
  const place = makeInstallPlace({ "home/.cursor/mcp.json": text });
  return { ...place, file: join(place.home, ".cursor/mcp.json") };
}

const theirs = `{
  // my servers
  "mcpServers": {
    "project-management": { "command": "theirs",   "args": [ ] }, // mine
    "z": {}
  }
}
`;

describe("a foreign entry with the same name", () => {
  test("an install does not replace a foreign entry with the same name", async () => {
    const place = makeCursorPlace(theirs);
    await expect(place.install("cursor", server)).rejects.toMatchObject({
      code: "ClientConfigConflict",
      problem: {
        file: place.file,
        hint: expect.any(String),
        args: { file: place.file, key: "project-management" },
      },
    });
    expect(read(place.file)).toBe(theirs);
  });

  test("--force replaces a foreign entry and keeps a backup, and an uninstall removes only Trailblaze's", async () => {
    const place = makeCursorPlace(theirs);
    const { changed, backup, diff } = await place.install("cursor", server, { force: true });
    expect(changed).toBe(true);
    expect(diff).not.toContain("theirs");
    expect(read(backup ?? "")).toBe(theirs);
    expect(JSON.stringify(read(place.file))).toContain(server);
    expect(read(place.file)).toContain("// mine");
    expect((await place.uninstall("cursor", server)).changed).toBe(true);
    expect(read(place.file)).toContain('"z": {}');
    expect(read(place.file)).not.toContain("project-management");
    expect(await place.uninstall("cursor", server)).toMatchObject({ changed: false, diff: "", backup: null });
  });

  test("uninstalling a server that was never installed keeps a foreign entry, with a note", async () => {
    const place = makeCursorPlace(theirs);
    const plan = await place.planUninstall("cursor", server, { force: true });
    expect(plan).toMatchObject({
      changed: false,
      notes: [expect.stringContaining("was kept")],
    });
  });
});

describe("an entry that Trailblaze wrote", () => {
  test("an install changes an existing entry only if its content differs", async () => {
    const place = makeCursorPlace("{}");
    expect(await place.install("cursor", server)).toMatchObject({ changed: true });
    const text = read(place.file);
    expect(await place.install("cursor", server)).toMatchObject({ changed: false, diff: "", backup: null });
    expect(await place.install("cursor", server, { env: ["A=1"] })).toMatchObject({ changed: true });
    expect(read(place.file)).toContain('"A": "1"');
    expect(await place.install("cursor", server)).toMatchObject({ changed: true });
    expect(read(place.file)).toBe(text);
    await place.uninstall("cursor", server);
    expect(existsSync(place.file)).toBe(false);
  });

  test.each([
    ["cline", { disabled: true, autoApprove: ["a"], timeout: 60 }],
    ["codex", { enabled: false, startup_timeout_sec: 5 }],
    ["copilot-cli", { type: "local", tools: ["a"] }],
  ])(
    "keys that %s adds to an entry stay on a new install and do not keep an uninstall",
    async (client, added) => {
      const place = makeInstallPlace();
      const { file } = await place.install(client, "mine", { env: ["A=1"] });
      const record = findClient(client);
      const at = { container: record.container, key: "mine" };
      const open = () => new ConfigDocument(file, record.format, read(file));
      const entry = () => open().get(at) as JsonRecord;
      writeFileSync(file, String(open().edit(at, { ...entry(), ...added })?.text));
      const edited = read(file);
      expect(await place.install(client, "mine", { env: ["A=1"] })).toMatchObject({ changed: false });
      expect(read(file)).toBe(edited);
      await place.install(client, "mine", { env: ["A=2"] });
      expect(entry()).toMatchObject(added);
      expect(JSON.stringify(entry())).toContain('{"A":"2"}');
      expect(await place.uninstall(client, "mine")).toMatchObject({ changed: true });
      expect(existsSync(file)).toBe(false);
    },
  );

  test("an entry of another pack needs another name or --force", async () => {
    const place = makeCursorPlace("{}");
    await place.install("cursor", server);
    const second = "acme/notes/project-management";
    await expect(place.install("cursor", second)).rejects.toMatchObject({
      code: "ClientConfigConflict",
      problem: { args: { key: "project-management", owner: server } },
    });
    await place.install("cursor", second, { force: true });
    expect(await place.uninstall("cursor", server)).toMatchObject({ changed: false });
    expect(await place.uninstall("cursor", second)).toMatchObject({ changed: true });
    expect(existsSync(place.file)).toBe(false);
  });

  test("an entry of another project needs another name or --force", async () => {
    const place = makeInstallPlace({
      "other/package.json": { name: "other" },
      "other/trailblaze.config.yaml": "servers:\n  mine: { tools: [] }\n",
    });
    const other = join(place.root, "other");
    const { file } = await place.install("cursor", "mine");
    const text = read(file);
    const args = ["--no-install", "trailblaze", "start", "mine", "--cwd", place.project];
    const byHand = JSON.stringify({ mcpServers: { mine: { command: "npx", args, env: { A: "1" } } } });
    for (const written of [byHand, text]) {
      writeFileSync(file, written);
      await expect(place.install("cursor", "mine", { cwd: other })).rejects.toMatchObject({
        code: "ClientConfigConflict",
        problem: { args: { owner: "mine", project: place.project } },
      });
    }
    expect(await place.install("cursor", "mine", { cwd: other, force: true })).toMatchObject({
      changed: true,
    });
    expect(read(file)).toContain(other);
    writeFileSync(file, text);

    // A project that was moved is the same one.
    rmSync(place.project, { recursive: true });
    expect(await place.install("cursor", "mine", { cwd: other })).toMatchObject({ changed: true });
    expect(await place.uninstall("cursor", "mine", { cwd: other })).toMatchObject({ changed: true });
    expect(existsSync(file)).toBe(false);
  });

  test("a server can be uninstalled after its pack was deleted", async () => {
    const place = makeCursorPlace("{}");
    await place.install("cursor", "acme/jira/named");
    rmSync(join(place.project, "node_modules"), { recursive: true });
    rmSync(place.stateFolder, { recursive: true, force: true });
    const result = await place.uninstall("cursor", "@acme/jira/named");
    expect(result).toMatchObject({ changed: true, key: "Acme Jira", server: "acme/jira/named" });
    expect(existsSync(place.file)).toBe(false);
  });
});

describe("a config that Trailblaze created", () => {
  test("a config that Trailblaze created is deleted with its last entry", async () => {
    const place = makeInstallPlace();
    await place.install("kiro", server);
    await place.install("kiro", "mine");
    const file = join(place.home, ".kiro/settings/mcp.json");
    await place.uninstall("kiro", server);
    expect(existsSync(file)).toBe(true);
    expect(await place.uninstall("kiro", "mine")).toMatchObject({ changed: true });
    expect(existsSync(file)).toBe(false);
  });

  test.each(["", '{"mcpServers": {}}'])("a config that holds nothing is deleted: %j", async (text) => {
    const place = makeInstallPlace({ "home/.kiro/settings/mcp.json": text });
    const { file } = await place.install("kiro", server);
    await place.uninstall("kiro", server);
    expect(existsSync(file)).toBe(false);
  });
});

test.each([
  ["\uFEFF{}", "byte order mark"],
  ["{ // mine\n}", "comments"],
  ['{ "a": 1 }', undefined],
])("an install names what the parser of a client may not read: %j", async (text, named) => {
  const place = makeInstallPlace();
  const file = join(place.root, "mcp.json");
  writeFileSync(file, text);
  const { notes } = await place.planInstall("claude-desktop", "mine", { file });
  expect(notes.filter((note) => note.includes("may not be able to read"))).toEqual(
    named === undefined ? [] : [expect.stringContaining(named)],
  );
});

test("an entry for OpenCode is written in the form that its config has", async () => {
  const newer = '{\n  "mcp": {\n    "servers": {}\n  }\n}\n';
  const place = makeInstallPlace({ "home/.config/opencode/opencode.json": newer });
  const { file } = await place.install("opencode", server);
  expect(JSON.parse(read(file)).mcp.servers["project-management"]).toMatchObject({ type: "local" });
  await place.uninstall("opencode", server);
  expect(existsSync(file)).toBe(false);
  mkdirSync(dirname(file), { recursive: true });
  const older = '{ "mcp": { "servers": { "type": "local", "command": ["x"] } } }\n';
  writeFileSync(file, older);
  await place.install("opencode", server);
  expect(Object.keys(JSON.parse(read(file)).mcp)).toEqual(["servers", "project-management"]);
});

test("an inline container is refused with the entry to paste, without its secrets", async () => {
  const place = makeInstallPlace({ "home/.codex/config.toml": "mcp_servers = {}\n" });
  const hint = expect.stringMatching(/mine = \{ command = .*env = \{ A = "\*\*\*" \}/);
  await expect(place.install("codex", "mine", { env: ["A=s3cret"] })).rejects.toMatchObject({
    code: "ClientConfigUnwritable",
    problem: { hint },
  });
});

test("a link to a folder of the project whose name starts with two dots stays inside it", async () => {
  const place = makeInstallPlace({ "project/..ai/mcp.json": "{}" });
  symlinkSync(join(place.project, "..ai"), join(place.project, ".cursor"));
  expect(await place.install("cursor", server, { scope: "project" })).toMatchObject({ changed: true });
});

test.each(["install", "uninstall"] as const)(
  "%s with the scope of the project refuses a file that a link leads out of it",
  async (action) => {
    const place = makeInstallPlace({ "home/.cursor/mcp.json": '{ "mcpServers": { "a": {} } }' });
    mkdirSync(join(place.project, ".cursor"));
    symlinkSync(join(place.home, ".cursor/mcp.json"), join(place.project, ".cursor/mcp.json"));
    await expect(place[action]("cursor", server, { scope: "project" })).rejects.toMatchObject({
      code: "ClientConfigUnwritable",
      problem: { args: { reason: expect.stringContaining("outside the project") } },
    });
    expect(read(join(place.home, ".cursor/mcp.json"))).toBe('{ "mcpServers": { "a": {} } }');
  },
);
