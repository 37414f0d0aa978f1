import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runMain } from "../support/main.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { inRepository } from "../support/repository.ts";
import { runCli } from "../support/run-cli.ts";

const makeProject = (tree: Record<string, unknown> = {}) =>
  makeTree({
    "package.json": { name: "app", dependencies: { "@acme/jira": "^1.2.0", notes: "*" } },
    "node_modules/@acme/jira/package.json": packManifest("@acme/jira", {
      version: "1.2.0",
      description: "Jira for agents",
      trailblaze: {
        servers: ["project-management"],
        tools: [["createIssue", "Create an issue"], "getIssue"],
        toolsets: ["triage"],
        prompts: ["issueText"],
      },
    }),
    "node_modules/notes/package.json": packManifest("notes", { trailblaze: { tools: ["createNote"] } }),
    "node_modules/stray/package.json": packManifest("stray"),
    ...tree,
  });

const brokenPack = {
  "node_modules/notes/package.json": packManifest("notes", { trailblaze: { tools: ["createNote", "../x"] } }),
};
test("`list --json` prints the documented JSON and nothing else", async () => {
  const cwd = makeProject();
  const { stdout, stderr, exitCode } = await runMain(["list", "--json"], { cwd });
  expect(exitCode).toBe(0);
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toStrictEqual({
    project: cwd,
    scope: "declared",
    packs: [
      {
        name: "@acme/jira",
        qualifiedName: "acme/jira",
        version: "1.2.0",
        description: "Jira for agents",
        location: join(cwd, "node_modules/@acme/jira"),
        origin: "direct",
        shadowed: false,
        enabled: true,
        servers: [
          { name: "project-management", qualifiedName: "acme/jira/project-management", description: null },
        ],
        tools: [
          { name: "createIssue", qualifiedName: "acme/jira/createIssue", description: "Create an issue" },
          { name: "getIssue", qualifiedName: "acme/jira/getIssue", description: null },
        ],
        toolsets: [{ name: "triage", qualifiedName: "acme/jira/triage", description: null }],
        prompts: [{ name: "issueText", qualifiedName: "acme/jira/issueText", description: null }],
        resources: [],
        skills: [],
        problems: [],
      },
      expect.objectContaining({ name: "notes", origin: "direct", enabled: true }),
    ],
    problems: [],
  });
});

test("`list KIND --json` lists the items of a kind, with the documented keys", async () => {
  const { stdout, stderr, exitCode } = await runMain(["list", "tool", "--json"], { cwd: makeProject() });
  const { items, ...rest } = JSON.parse(stdout);
  expect(items.map((item: { qualifiedName: string }) => item.qualifiedName)).toEqual([
    "acme/jira/createIssue",
    "acme/jira/getIssue",
    "notes/createNote",
  ]);
  expect(items[0]).toStrictEqual({
    kind: "tool",
    qualifiedName: "acme/jira/createIssue",
    name: "createIssue",
    description: "Create an issue",
    pack: "@acme/jira",
    version: "1.2.0",
  });
  expect(rest).toEqual({ scope: "declared", problems: [] });
  expect([exitCode, stderr]).toEqual([0, ""]);
  const toolsets = await runMain(["list", "toolsets", "--json"], { cwd: makeProject() });
  expect(JSON.parse(toolsets.stdout).items).toMatchObject([{ kind: "toolset", name: "triage" }]);
});

describe("trailblaze list as text", () => {
  test("`list` prints every pack, and `list KIND` every item of the kind, on stdout alone", async () => {
    const cwd = makeProject();
    const { stdout, stderr, exitCode } = await runMain(["list"], { cwd });
    expect(stdout).toMatch(/@acme\/jira +1\.2\.0 +direct/);
    expect(stdout).toMatch(/notes +1\.0\.0 +direct/);
    expect(stdout).not.toContain("stray");
    expect([exitCode, stderr]).toEqual([0, ""]);
    const tools = await runMain(["list", "tools"], { cwd });
    expect(tools.stdout).toMatch(/acme\/jira\/createIssue .*Create an issue/);
    expect(tools.stdout).toMatch(/notes\/createNote/);
    expect(tools.stdout).not.toContain("triage");
  });

  test("`list` prints problems on stderr, with code, place and hint, and exits with 1 for errors, not for warnings", async () => {
    const { stdout, stderr, exitCode } = await runMain(["list"], { cwd: makeProject(brokenPack) });
    expect(stdout).not.toContain("InvalidItemName");
    expect(stderr).toMatch(/error InvalidItemName .*notes.*package\.json:\d+:\d+/);
    expect(stderr).toContain("hint:");
    expect(exitCode).toBe(1);
    const warned = packManifest("notes", { trailblaze: { tool: [], tools: ["createNote"] } });
    const cwd = makeProject({ "node_modules/notes/package.json": warned });
    expect(await runMain(["list"], { cwd })).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining("warning UnknownExtensionKey"),
    });
  });

  test("`list` prints complete text without colors if stdout is not a terminal, whatever the environment", async () => {
    const long = "x".repeat(300);
    const manifest = packManifest("notes", { trailblaze: { tools: [["a", long]], tool: [] } });
    const { stdout, stderr } = await runCli(["list", "tools"], {
      cwd: makeProject({ "node_modules/notes/package.json": manifest }),
      env: { FORCE_COLOR: "1", CLICOLOR_FORCE: "1", COLUMNS: "40", TERM: "xterm-256color" },
    });
    expect(stdout + stderr).not.toContain("\u001b");
    expect(stdout).toContain(long);
  });
});

test.each([
  ["without a project", []],
  ["if --cwd names a folder that does not exist", ["--cwd", "nowhere"]],
])("`list` exits with 2 %s, and names the folder", async (_, args) => {
  const cwd = makeTree({ "a.txt": "" });
  const { exitCode, stdout, stderr } = await runMain(["list", ...args, "--json"], { cwd });
  expect([exitCode, stderr]).toEqual([2, ""]);
  expect(JSON.parse(stdout)).toEqual({
    error: expect.objectContaining({
      code: "ProjectNotFound",
      message: expect.any(String),
      args: { directory: join(cwd, args[1] ?? ""), exists: args.length === 0 },
    }),
  });
});

test.skipIf(!existsSync("/usr/bin/script"))(
  "text on a terminal has colors unless NO_COLOR is set, no control characters of packs, and fits; JSON has no colors",
  () => {
    const description = "a word or two ".repeat(20).trim();
    const tools = [["a", description], "../x"];
    const cwd = makeProject({
      "node_modules/notes/package.json": packManifest("notes", {
        trailblaze: { tools, resources: ["text"] },
      }),
      "node_modules/notes/trailblaze/resources/text.json": {
        name: "text",
        uri: "test://text",
        text: "one\u001b[31m\r\ntwo\u0007\u202e",
      },
    });
    /** What a terminal receives. */
    const run = (args: string, variables: NodeJS.ProcessEnv = {}): string => {
      const command = `stty cols 60; exec "${process.execPath}" "${inRepository("dist/cli/cli.cjs")}" ${args}`;
      const { PATH, HOME } = process.env;
      const env = { PATH, HOME, TERM: "xterm-256color", SHELL: "/bin/sh", ...variables };
      const options = { cwd, env, encoding: "utf8", timeout: 100_000 } as const;
      return spawnSync("script", ["-qec", command, "/dev/null"], options).stdout;
    };
    expect(run("list")).toMatch(/\u001b\[31merror/);
    expect(run("read test://text")).toContain("one\\u{001b}[31m\r\ntwo\\u{0007}\\u{202e}\r\n");
    const json = run("list --json");
    expect(json).not.toContain("\u001b");
    expect(JSON.parse(json)).toHaveProperty("packs");
    const table = run("list tools", { NO_COLOR: "1" });
    expect(table).toContain("error InvalidItemName");
    expect(table).not.toContain("\u001b");
    expect(table.replace(/\s+/g, " ")).toContain(description);
    const lines = table.slice(0, table.indexOf("error ")).split(/\r?\n/);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
  },
);

describe("packs that the project does not declare", () => {
  test("`list --all` adds them, and sessions use them on demand", async () => {
    const cwd = makeProject();
    expect((await runMain(["list"], { cwd })).stdout).not.toContain("stray");
    const { stdout } = await runMain(["list", "--all"], { cwd });
    expect(stdout).toMatch(/^stray +1\.0\.0 +undeclared +on demand/m);
    const { scope, packs } = JSON.parse((await runMain(["list", "--all", "--json"], { cwd })).stdout);
    expect([scope, packs.at(-1)]).toMatchObject(["all", { name: "stray", enabled: "onDemand" }]);
  });

  test("a listing without packs names `--all` only if something is installed", async () => {
    const empty = makeTree({ "package.json": { name: "app" } });
    expect((await runMain(["list"], { cwd: empty })).stdout).toMatch(/No packs are declared.*\n.*search/);
    const installed = makeTree({
      "package.json": { name: "app", workspaces: ["packages/*"] },
      "packages/a/package.json": { name: "a" },
      "node_modules/x/package.json": { name: "x" },
    });
    for (const cwd of [installed, join(installed, "packages/a")]) {
      expect((await runMain(["list"], { cwd })).stdout).toMatch(/No packs are declared.*\n.*list --all/);
      expect((await runMain(["list", "tools"], { cwd })).stdout).toMatch(/No tools are declared.*\n.*--all/);
      expect((await runMain(["list", "--all"], { cwd })).stdout).toContain("No packs are installed");
    }
  });
});
