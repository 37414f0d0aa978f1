import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeInstallPlace, script } from "./install-place.ts";

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

  test("an uninstall restores a foreign entry that --force replaced, byte for byte", async () => {
    const place = makeCursorPlace(theirs);
    expect((await place.install("cursor", server, { force: true })).changed).toBe(true);
    expect(JSON.stringify(read(place.file))).toContain(server);
    expect(read(place.file)).toContain("// mine");
    expect((await place.uninstall("cursor", server)).changed).toBe(true);
    expect(read(place.file)).toBe(theirs);
    expect(await place.uninstall("cursor", server)).toMatchObject({ changed: false, diff: "", backup: null });
    expect(read(place.file)).toBe(theirs);
  });

  test.each([
    ["cursor", ".cursor/mcp.json", '{"mcpServers":{"mine": "a text", "z": 1}}'],
    ["cursor", ".cursor/mcp.json", '{\n  "mcpServers": { "mine":null }\n}'],
    [
      "codex",
      ".codex/config.toml",
      "[mcp_servers.mine]\nat = 2026-11-22T10:00:00Z # then\nbig = 9223372036854775807\n\n[z]\n",
    ],
    ["codex", ".codex/config.toml", '[mcp_servers]\nmine = { command = "x" } # theirs\n'],
    [
      "goose",
      ".config/goose/config.yaml",
      "extensions:\n  mine:\n    cmd: x # theirs\n    args: [a,\n      b]\n  z: {}\n",
    ],
    ["goose", ".config/goose/config.yaml", "extensions: {mine: {cmd: x}, z: {}}\n"],
  ])(
    "an uninstall restores a foreign entry that --force replaced, for %s in %s: %s",
    async (client, path, text) => {
      const place = makeInstallPlace({ [`home/${path}`]: text });
      const file = join(place.home, path);
      await expect(place.install(client, "mine")).rejects.toMatchObject({ code: "ClientConfigConflict" });
      await place.install(client, "mine", { force: true });
      expect(read(file)).toContain(script);
      await place.uninstall(client, "mine");
      expect(read(file)).toBe(text);
    },
  );

  test("uninstalling a server that was never installed keeps a foreign entry, with a note", async () => {
    const place = makeCursorPlace(theirs);
    const plan = await place.planUninstall("cursor", server, { force: true });
    expect(plan).toMatchObject({
      changed: false,
      notes: [expect.stringContaining("was kept"), expect.anything()],
    });
  });

  test("an install under another name does not conflict with a foreign entry", async () => {
    const place = makeCursorPlace(theirs);
    const result = await place.install("cursor", server, { name: "pm" });
    expect(result).toMatchObject({ changed: true, key: "pm", server, client: "cursor", file: place.file });
    expect(await place.uninstall("cursor", server)).toMatchObject({ changed: true, key: "pm" });
    expect(read(place.file)).toBe(theirs);
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
    expect(read(place.file)).toBe("{}");
  });

  test("install and uninstall keep an edited entry unless --force is given", async () => {
    const place = makeCursorPlace("{}");
    await place.install("cursor", server);
    const edited = read(place.file).replace('"start",', '"start",\n        "--config", "other.yaml",');
    writeFileSync(place.file, edited);
    for (const run of [place.uninstall, place.install]) {
      await expect(run("cursor", server)).rejects.toMatchObject({ code: "ClientConfigModified" });
      expect(read(place.file)).toBe(edited);
    }
    expect(await place.uninstall("cursor", server, { force: true })).toMatchObject({ changed: true });
    expect(read(place.file)).toBe("{}");
  });

  test("an entry that the client reformatted is still recognized", async () => {
    const place = makeCursorPlace('{"mcpServers":{"other":{"command":"x"}}}');
    await place.install("cursor", server);
    const config = JSON.parse(read(place.file));
    const { command, args } = config.mcpServers["project-management"];
    config.mcpServers = { "project-management": { args, command }, other: { command: "x" } };
    writeFileSync(place.file, `${JSON.stringify(config, null, "\t")}\n`);
    expect(await place.uninstall("cursor", server)).toMatchObject({ changed: true });
    expect(JSON.parse(read(place.file))).toEqual({ mcpServers: { other: { command: "x" } } });
  });

  test("an entry of another pack needs another name, or is restored after --force", async () => {
    const place = makeCursorPlace("{}");
    await place.install("cursor", server);
    const text = read(place.file);
    const second = "acme/notes/project-management";
    await expect(place.install("cursor", second)).rejects.toMatchObject({
      code: "ClientConfigConflict",
      problem: { args: { key: "project-management", owner: server } },
    });
    await place.install("cursor", second, { force: true });
    expect(await place.uninstall("cursor", server)).toMatchObject({ changed: false });
    expect(await place.uninstall("cursor", second)).toMatchObject({ changed: true });
    expect(read(place.file)).toBe(text);
    expect(await place.uninstall("cursor", server)).toMatchObject({ changed: true });
    expect(read(place.file)).toBe("{}");
  });

  test("an entry of another project needs another name, or is restored after --force", async () => {
    const place = makeInstallPlace({
      "other/package.json": { name: "other" },
      "other/trailblaze.config.yaml": "servers:\n  mine: { tools: [] }\n",
    });
    const other = join(place.root, "other");
    const { file } = await place.install("cursor", "mine");
    const text = read(file);
    await expect(place.install("cursor", "mine", { cwd: other })).rejects.toMatchObject({
      code: "ClientConfigConflict",
      problem: { args: { owner: "mine", project: place.project } },
    });
    expect(await place.install("cursor", "mine", { cwd: other, force: true })).toMatchObject({
      changed: true,
    });
    expect(read(file)).toContain(other);
    expect(await place.uninstall("cursor", "mine")).toMatchObject({ changed: true });
    expect(read(file)).toBe(text);

    // A project that was moved is the same one.
    rmSync(place.project, { recursive: true });
    expect(await place.install("cursor", "mine", { cwd: other })).toMatchObject({ changed: true });
    expect(await place.uninstall("cursor", "mine", { cwd: other })).toMatchObject({ changed: true });
    expect(existsSync(file)).toBe(false);
  });

  test("uninstalling every server deletes a file that Trailblaze created, even after --force", async () => {
    const place = makeInstallPlace();
    const { file } = await place.install("cursor", server);
    await place.install("cursor", "acme/notes/project-management", { force: true });
    await place.uninstall("cursor", "acme/notes/project-management");
    await place.uninstall("cursor", server);
    expect(existsSync(file)).toBe(false);
  });

  test("a server can be uninstalled after its pack and the ledger were deleted", async () => {
    const place = makeCursorPlace("{}");
    await place.install("cursor", "acme/jira/named");
    rmSync(join(place.project, "node_modules"), { recursive: true });
    rmSync(place.stateFolder, { recursive: true });
    const result = await place.uninstall("cursor", "@acme/jira/named");
    expect(result).toMatchObject({ changed: true, key: "Acme Jira", server: "acme/jira/named" });
    expect(read(place.file)).toBe('{\n  "mcpServers": {}\n}');
  });

  test("without a ledger, an entry is uninstalled only if it is exactly what install writes", async () => {
    const place = makeCursorPlace("{}");
    await place.install("cursor", server);
    rmSync(place.stateFolder, { recursive: true });
    writeFileSync(place.file, read(place.file).replace('"command"', '"disabled": true, "command"'));
    expect(await place.uninstall("cursor", server)).toMatchObject({ changed: false });
  });

  test("a server installed under two names is uninstalled only by name", async () => {
    const place = makeCursorPlace("{}");
    await place.install("cursor", server);
    await place.install("cursor", server, { name: "again" });
    await expect(place.uninstall("cursor", server)).rejects.toMatchObject({ code: "InvalidArguments" });
    await place.uninstall("cursor", server, { name: "again" });
    await place.uninstall("cursor", server);
    expect(read(place.file)).toBe("{}");
  });

  test("removing several entries in any order restores the file", async () => {
    const original = '{\n  "mcpServers": {}, // none\n  "a": 1\n}\n';
    const names = ["one", "two", "three"];
    for (const order of [names, names.toReversed(), ["two", "one", "three"]]) {
      const place = makeCursorPlace(original);
      for (const name of names) await place.install("cursor", server, { name });
      for (const name of order) await place.uninstall("cursor", server, { name });
      expect(read(place.file)).toBe(original);
    }
  });
});

describe("a config that Trailblaze created", () => {
  test("a config that Trailblaze created is deleted with its last entry, and so are its folders", async () => {
    const place = makeInstallPlace();
    await place.install("kiro", server);
    await place.install("kiro", "mine");
    const file = join(place.home, ".kiro/settings/mcp.json");
    await place.uninstall("kiro", server);
    expect(existsSync(file)).toBe(true);
    expect(await place.uninstall("kiro", "mine")).toMatchObject({ changed: true });
    expect(readdirSync(place.home)).toEqual([".keep"]);
  });

  test("a config that another program created again is kept", async () => {
    const place = makeInstallPlace();
    const { file } = await place.install("kiro", server);
    writeFileSync(file, "{ }\n");
    await place.install("kiro", server);
    await place.uninstall("kiro", server);
    expect(read(file)).toBe("{ }\n");
  });

  test("a config that Trailblaze created stays if another program added a key", async () => {
    const place = makeInstallPlace();
    const { file } = await place.install("kiro", server);
    writeFileSync(file, read(file).replace('"mcpServers"', '"other": 1,\n  "mcpServers"'));
    await place.uninstall("kiro", server);
    expect(JSON.parse(read(file))).toEqual({ other: 1 });
  });

  test("a config that Trailblaze created stays if a user added a comment", async () => {
    const place = makeInstallPlace();
    const { file } = await place.install("gemini-cli", server);
    writeFileSync(file, `// keep me\n${read(file)}`);
    await place.uninstall("gemini-cli", server);
    expect(read(file)).toContain("// keep me");
  });
});

describe("a config that several clients read", () => {
  test("a config that several clients read has one entry for all of them", async () => {
    const place = makeInstallPlace();
    await place.install("claude-code", server, { scope: "project" });
    const file = join(place.project, ".mcp.json");
    const text = read(file);
    expect(await place.install("copilot-cli", server, { scope: "project" })).toMatchObject({
      changed: false,
      file,
    });
    expect(read(file)).toBe(text);
    const plan = await place.planUninstall("copilot-cli", server, { scope: "project" });
    expect(plan).toMatchObject({ changed: true, notes: [expect.stringContaining(".mcp.json")] });
  });

  test("an entry for one client can be uninstalled through another client on another machine", async () => {
    const place = makeInstallPlace();
    await place.install("copilot-cli", server, { scope: "project", env: ["A=b"] });
    rmSync(place.stateFolder, { recursive: true });
    expect(await place.uninstall("claude-code", server, { scope: "project" })).toMatchObject({
      changed: true,
    });
  });
});

test("an entry in the older form with npx is replaced by install and removed by uninstall", async () => {
  const args = ["--no-install", "trailblaze", "start", "acme/jira/project-management"];
  const former = JSON.stringify({ mcpServers: { "project-management": { command: "npx", args } } });
  const options = { scope: "project" } as const;
  const file = "project/.cursor/mcp.json";

  const replaced = makeInstallPlace({ [file]: former });
  await replaced.install("cursor", "acme/jira/project-management", options);
  const text = readFileSync(join(replaced.root, file), "utf8");
  expect(JSON.parse(text).mcpServers["project-management"].command).toBe("node");

  const removed = makeInstallPlace({ [file]: former });
  expect(await removed.uninstall("cursor", "acme/jira/project-management", options)).toMatchObject({
    changed: true,
  });
  expect(JSON.parse(readFileSync(join(removed.root, file), "utf8"))).toEqual({ mcpServers: {} });
});

test("an entry for OpenCode is written in the form that its config has", async () => {
  const newer = '{\n  "mcp": {\n    "servers": {}\n  }\n}\n';
  const place = makeInstallPlace({ "home/.config/opencode/opencode.json": newer });
  const { file } = await place.install("opencode", server);
  expect(JSON.parse(read(file)).mcp.servers["project-management"]).toMatchObject({ type: "local" });
  await place.uninstall("opencode", server);
  expect(read(file)).toBe(newer);
  const older = '{ "mcp": { "servers": { "type": "local", "command": ["x"] } } }\n';
  writeFileSync(file, older);
  await place.install("opencode", server);
  expect(Object.keys(JSON.parse(read(file)).mcp)).toEqual(["servers", "project-management"]);
});

describe("a foreign entry under the name of an earlier entry", () => {
  test("a foreign entry under the name of an earlier entry is restored after --force, and its file stays", async () => {
    const place = makeInstallPlace({});
    const file = join(place.home, ".cursor/mcp.json");
    await place.install("cursor", server);
    const mine = '{ "mcpServers": { "project-management": { "command": "MINE" } } }\n';
    writeFileSync(file, mine);
    await expect(place.install("cursor", server)).rejects.toMatchObject({ code: "ClientConfigModified" });
    await place.install("cursor", server, { force: true });
    expect(read(file)).toContain(server);
    await place.uninstall("cursor", server);
    expect(read(file)).toBe(mine);
  });
});

test("two clients can have the same server in different containers of one file", async () => {
  const place = makeInstallPlace({});
  const file = join(place.project, "both.json");
  await place.install("claude-code", server, { file });
  await place.install("visual-studio", server, { file });
  await place.uninstall("claude-code", server, { file });
  expect(JSON.parse(read(file)).mcpServers ?? {}).toEqual({});
  expect(Object.keys(JSON.parse(read(file)).servers)).toHaveLength(1);
  await place.uninstall("visual-studio", server, { file });
  expect(existsSync(file)).toBe(false);
});

test.each(['model = "x"   \n', "[a]  \n", "# c  ", "   ", "# c\n   \n", 'model = "x"\t'])(
  "white space at the end of %j stays",
  async (text) => {
    const place = makeInstallPlace({ "home/.codex/config.toml": text });
    await place.install("codex", server);
    await place.uninstall("codex", server);
    expect(read(join(place.home, ".codex/config.toml"))).toBe(text);
  },
);

test('an entry named "type" or "command" can be installed and removed', async () => {
  const text = '{ "mcp": { "servers": {} } }\n';
  const place = makeInstallPlace({ "home/.config/opencode/opencode.json": text });
  for (const name of ["type", "command"]) {
    await place.install("opencode", server, { name });
    expect((await place.uninstall("opencode", server, { name })).changed).toBe(true);
    expect(read(join(place.home, ".config/opencode/opencode.json"))).toBe(text);
  }
});

test("a comment that a user added to a container of entries stays", async () => {
  const place = makeInstallPlace({ "home/.cursor/mcp.json": "{}\n" });
  const file = join(place.home, ".cursor/mcp.json");
  await place.install("cursor", server);
  writeFileSync(file, read(file).replace(/("mcpServers": \{)/, "$1\n    // mine"));
  await place.uninstall("cursor", server);
  expect(read(file)).toContain("// mine");
});

test.runIf(process.platform === "linux")(
  "an install fails if the config's folder cannot be created",
  async () => {
    const place = makeInstallPlace({});
    await expect(place.install("cursor", server, { file: "/proc/x/y.json" })).rejects.toMatchObject({
      code: "ClientConfigUnwritable",
    });
  },
);
