import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, inject, test } from "vitest";
import { listServer } from "../lock/support/locked-project.ts";
import { makeProject, packQuickly, readState, useManagers } from "../npm/changeable-project.ts";
import { skillText } from "../skills/support.ts";
import { runMain } from "../support/main.ts";
import { publish } from "../support/publish.ts";

const dependencies = { "hello-tools": "^1.0.0" };
const configFile = "trailblaze.config.yaml";

async function open(config?: string, { isQuick = true } = {}) {
  const registry = inject("registry");
  const home = useManagers(registry);
  if (isQuick) packQuickly(home);
  const cwd = await makeProject("npm", { registry, dependencies });
  if (config !== undefined) writeFileSync(join(cwd, configFile), config);
  const run = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await runMain([...args, "--json"], { cwd });
    return { exitCode, stderr, json: JSON.parse(stdout) };
  };
  const readConfig = () => {
    const path = join(cwd, configFile);
    return existsSync(path) ? readFileSync(path, "utf8") : undefined;
  };
  return { cwd, registry, run, readConfig };
}

/** The files of a package that is not a pack. */
const plain = (name: string, fields: object, files: object = {}) => ({
  "package.json": { name, version: "1.0.0", ...fields },
  ...files,
});

/** A package that is an MCP server. */
const echo = "tb-echo-server";

beforeAll(() =>
  publish(
    inject("registry"),
    plain(
      echo,
      { bin: "server.mjs", mcpName: "io.example/echo" },
      {
        "server.mjs": `#!/usr/bin/env node\n${listServer}`,
        "list.json": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
      },
    ),
  ),
);

test("add installs an MCP server with a config entry, call runs it, and remove undoes both", async () => {
  const listed = `trailblazeSubprocessToolsets:\n  - { name: own, package: ${echo}, enabled: false }\n`;
  const config = `# mine\n${listed}crash: isolate # keep\n`;
  const { cwd, run, readConfig } = await open(config);
  const before = readState(cwd);
  const added = await run("add", echo, "--yes", "--check", "--name", "every", "--env", "HOME");
  expect(added.exitCode).toBe(0);
  expect(added.json).toMatchObject({
    added: [],
    servers: [{ name: "every", package: echo, file: configFile, tools: ["echo"] }],
    problems: [],
  });
  expect(readConfig()).toBe(
    `${config}mcpServers:\n  every:\n    package: ${echo}\n    env:\n      HOME: "\${HOME}"\n`,
  );
  const called = await run("call", "echo", "message=hi");
  expect(called.json).toMatchObject({ variant: "Success", message: "called echo" });

  const removed = await run("remove", echo);
  expect(removed.exitCode).toBe(0);
  expect(removed.json).toMatchObject({
    removed: [{ name: echo }],
    servers: [{ name: "every", package: echo }],
    byHand: [{ name: "own", package: echo, place: `${configFile}:3` }],
  });
  expect(readConfig()).toBe(config);
  expect(readState(cwd).files["package.json"]).toBe(before.files["package.json"]);
});

test("add changes nothing for a package without a server or with several, and for a label or a value that is refused", async () => {
  const config = "mcpServers:\n  mine: { command: node }\n  mcp: { command: node }\n";
  const { cwd, registry, run, readConfig } = await open(config);
  await publish(registry, plain("@tb-scope/mcp", { bin: "cli.js", mcpName: "x" }, { "cli.js": "" }));
  const before = readState(cwd);
  const refused: [fields: object | string, options: string[], exitCode: number, code: string][] = [
    // A command that is not declared to be a server.
    [{ bin: "cli.js" }, [], 1, "NotAPack"],
    // No command at all. The package has a skill.
    [{}, ["--server"], 1, "NotAPack"],
    [{}, [], 1, "NotAPack"],
    // A command whose file does not exist.
    [{ bin: "none.js", mcpName: "x" }, [], 1, "InstallFailed"],
    // Two commands.
    [{ bin: { a: "cli.js", b: "cli.js" }, mcpName: "x" }, [], 2, "InvalidArguments"],
    // A label that is taken.
    [{ bin: "cli.js", mcpName: "x" }, ["--name", "mine"], 2, "InvalidArguments"],
    [{ bin: "cli.js", mcpName: "x" }, ["--env", "A=${b:c}"], 2, "InvalidConfig"],
    // A label that is taken by default.
    ["@tb-scope/mcp", [], 2, "InvalidArguments"],
    // A pack with an option of servers.
    ["@globex/calculator", ["--name", "x"], 2, "InvalidArguments"],
    // Without a lock, no server of a pack would start.
    ["@globex/calculator", ["--check"], 2, "InvalidArguments"],
  ];
  for (const [index, [fields, options, exitCode, code]] of refused.entries()) {
    const name = typeof fields === "string" ? fields : `tb-plain-${index}`;
    if (typeof fields !== "string")
      await publish(
        registry,
        plain(name, fields, { "cli.js": "run();\n", "skills/do/SKILL.md": skillText("do") }),
      );
    const result = await run("add", name, "--yes", ...options);
    expect(result, name).toMatchObject({ exitCode, json: { error: { code } } });
  }
  writeFileSync(join(cwd, configFile), "crash: maybe\n");
  expect(await run("add", echo, "--yes")).toMatchObject({
    exitCode: 2,
    json: { error: { code: "InvalidConfig" } },
  });
  writeFileSync(join(cwd, configFile), config);
  expect(readState(cwd)).toEqual(before);
  expect(readConfig()).toBe(config);
});

test("add writes a config, which remove deletes, and none with --no-config; the version supports this Node.js", async () => {
  const { registry, run, readConfig } = await open(undefined, { isQuick: false });
  const name = "tb-engines";
  for (const [version, node] of [
    ["1.0.0", ">=18"],
    ["2.0.0", ">=999"],
  ])
    await publish(registry, plain(name, { version, bin: "cli.js", engines: { node } }, { "cli.js": "" }));
  expect(await run("add", name, "--yes", "--server")).toMatchObject({
    exitCode: 0,
    json: { servers: [{ package: name, version: "1.0.0", file: configFile }] },
  });
  expect(await run("remove", name)).toMatchObject({ exitCode: 0 });
  expect(readConfig()).toBeUndefined();
  expect(await run("add", name, "--yes", "--server", "--no-config")).toMatchObject({
    exitCode: 0,
    json: { servers: [{ package: name, version: "1.0.0", file: null }] },
  });
  expect(readConfig()).toBeUndefined();
  expect(await run("remove", name)).toMatchObject({ exitCode: 0, json: { removed: [{ name }] } });
});

test("add --check reports a server that does not start at its place in the config", async () => {
  const { registry, run, readConfig } = await open(
    "trailblazeSubprocessToolsets:\n  - { name: first, command: node }\n",
  );
  await publish(
    registry,
    plain("tb-no-server", { bin: "cli.js", mcpName: "x" }, { "cli.js": "process.exit(3)" }),
  );
  const result = await run("add", "tb-no-server", "--yes", "--check", "--env", "MODE=s3cret");
  expect(result).toMatchObject({ exitCode: 1, json: { servers: [{ name: "tb-no-server" }] } });
  expect(result.json.problems).toContainEqual(
    expect.objectContaining({
      code: "ServerStartFailed",
      path: ["mcpServers", "tb-no-server"],
      line: 4,
    }),
  );
  expect(readConfig()).toContain("package: tb-no-server");
  expect(readConfig()).toContain("s3cret");
  expect(result.stderr).toContain("***");
  expect(result.stderr).not.toContain("s3cret");
});

test("what cannot be edited in a config in braces is named, to be done by hand", async () => {
  const written = "mcpServers: { own: { package: tb-braces } }\n";
  const { registry, run, readConfig } = await open(written);
  await publish(registry, plain("tb-braces", { bin: "cli.js", mcpName: "x" }, { "cli.js": "" }));
  const refused = await run("add", "tb-braces", "--yes", "--name", "other");
  expect(refused).toMatchObject({ exitCode: 1, json: { error: { code: "ClientConfigUnwritable" } } });
  expect(refused.json.error.hint).toContain('"other": {"package":"tb-braces"}');
  await run("add", "tb-braces", "--yes", "--no-config");
  expect(await run("remove", "tb-braces")).toMatchObject({
    exitCode: 0,
    json: { servers: [], byHand: [{ name: "own", package: "tb-braces", place: `${configFile}:1` }] },
  });
  expect(readConfig()).toBe(written);
});
