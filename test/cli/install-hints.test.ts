import { readFileSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeProject as makePackProject, toolPack } from "../session/support/session.ts";
import { runMain } from "../support/main.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { inRepository } from "../support/repository.ts";
import type { Tree } from "../support/tree.ts";

const server = join(import.meta.dirname, "../session/support/probe-server.mjs");
const config = {
  trailblazeSubprocessToolsets: [{ name: "everything", command: process.execPath, args: [server] }],
  servers: { mine: { tools: [] }, mixed: { tools: ["everything/probe_params"] } },
  toolsets: { some: ["everything/probe_parms", "everything/probe_params"] },
  builtIns: [{ name: "host_tap", description: "Tap.", parameters: {}, handler: "./tap.js" }],
};

function makeProject(files: Tree = {}): string {
  return makeTree({
    "package.json": { name: "app", dependencies: { "@acme/jira": "*", "@acme/absent": "*" } },
    "trailblaze.config.json": config,
    "tap.js": "export default () => 1;",
    "node_modules/@acme/jira/package.json": packManifest("@acme/jira", {
      trailblaze: { tools: ["getIssue"] },
    }),
    ...files,
  });
}

/** What a command says that ends without an answer. */
async function fail(args: readonly string[], cwd = makeProject()) {
  // pnpm and Yarn are among the repository's own packages.
  const bin = makeTree({});
  symlinkSync(inRepository("node_modules/pnpm/bin/pnpm.cjs"), join(bin, "pnpm"));
  const PATH = [bin, process.env.PATH].join(delimiter);
  const { stdout } = await runMain([...args, "--json"], { cwd, env: { PATH } });
  return JSON.parse(stdout).error as { code: string; args: object; hint: string };
}

describe("hints for names from the config", () => {
  test.each([
    [
      ["call", "everything/probe_parms"],
      "ToolNotFound",
      { name: "everything/probe_parms", server: "everything", nearest: ["everything/probe_params"] },
    ],
    [
      ["inspect", "everything/echo"],
      "InvalidArguments",
      { reason: expect.stringContaining('"everything"'), hint: expect.stringContaining("--start") },
    ],
    [["inspect", "everythin/echo", "--start"], "ServerNotFound", { name: "everythin", isLabel: true }],
    [["call", "everythin/echo"], "ServerNotFound", { name: "everythin", nearest: ["everything"] }],
    [["inspect", "everything"], "PackNotInstalled", { name: "everything", inConfig: "server" }],
    [["start", "everything/echo"], "ServerNotFound", { nearest: ["everything"] }],
    [["start", "mixed", "--install"], "PackNotInstalled", { name: "everything", inConfig: "server" }],
    [
      ["remove", "everything"],
      "PackNotInstalled",
      { name: "everything", inConfig: "server", isRemoval: true },
    ],
  ])(
    "the hint of `trailblaze` with %j points to the config, not to an npm package",
    async (given, code, args) => {
      const error = await fail(given);
      expect(error).toMatchObject({ code, args });
      expect(error.hint).not.toMatch(/install|\badd\b/);
    },
  );

  test("a hint for the config's own toolsets points to the config", async () => {
    const { stdout } = await runMain(["tools", "--json"], { cwd: makeProject() });
    const problems = JSON.parse(stdout).problems.filter(
      ({ path }: { path?: string[] }) => path?.[0] === "toolsets",
    );
    expect(problems).toMatchObject([
      { code: "ToolNotFound", args: { nearest: ["everything/probe_params"] } },
    ]);
  });
});

describe("hints for mistyped words", () => {
  test.each([
    [["inspect", "echo"], { name: "echo", isWord: true }],
    [["remove", "nope"], { name: "nope", isRemoval: true }],
    [["remove", "@acme/jria"], { name: "@acme/jria", nearest: ["@acme/jira"], isRemoval: true }],
    [["inspect", "getIssue"], { name: "getIssue", nearest: ["acme/jira/getIssue"], isWord: true }],
  ])("the hint of `trailblaze` with %j does not suggest installing a package", async (given, args) => {
    const error = await fail(given);
    expect(error).toMatchObject({ code: "PackNotInstalled", args });
    expect(error.hint).not.toMatch(/install |\badd\b/);
  });

  test.each([
    [["start", "globex/nothere", "--install"], { name: "globex", alternative: "@globex/nothere" }],
    [
      ["install", "cursor", "globex/nothere", "--install"],
      { name: "globex", alternative: "@globex/nothere" },
    ],
  ])("`trailblaze` with %j names the packs that could be meant, and installs none", async (given, args) => {
    const cwd = makeProject();
    expect(await fail(given, cwd)).toMatchObject({ code: "PackNotInstalled", args });
    const manifest = JSON.parse(readFileSync(join(cwd, "package.json"), "utf8"));
    expect(Object.keys(manifest.dependencies)).toEqual(["@acme/jira", "@acme/absent"]);
  });

  test("a hint never suggests installing a package that a module imports", async () => {
    const cwd = makeTree({
      "package.json": packManifest("x", { trailblaze: { tools: ["t"] } }),
      "trailblaze/tools/t.mjs": 'import a from "stranger"; export default a;',
    });
    const { stdout } = await runMain(["validate"], { cwd });
    expect(stdout).toMatch(/^error InvalidDefinitionContents .*\n(?:.*\n)*.*hint: .*stranger/m);
    expect(stdout).not.toContain("install");
  });
});

const pnpm: Tree = { "pnpm-lock.yaml": "lockfileVersion: '9.0'\n" };
const yarn: Tree = { "yarn.lock": "# yarn lockfile v1\n" };

describe("package managers in hints", () => {
  const hostile = { "package.json": { name: "app", packageManager: "$(touch x);#@1" } };

  test.each<[string, Tree, string]>([
    ["pnpm-lock.yaml", pnpm, "pnpm"],
    ["bun.lock", { "bun.lock": "{}" }, "bun"],
    ["a packageManager key that holds a shell command", hostile, "npm"],
  ])("hints name the package manager of a project with %s", async (_what, files, manager) => {
    const cwd = makeProject({ ...files, "trailblaze.config.json": {} });
    for (const args of [
      ["call", "acme/confluence/page"],
      ["inspect", "@acme/confluence"],
    ])
      expect([args, await fail(args, cwd)]).toMatchObject([
        args,
        { code: "PackNotInstalled", args: { name: "@acme/confluence", manager } },
      ]);
  });

  test("a hint includes the requested range, even if another version is installed", async () => {
    const cwd = makeProject({ ...pnpm, "trailblaze.config.json": {} });
    expect(await fail(["call", "acme/confluence@^2/page"], cwd)).toMatchObject({
      code: "PackNotInstalled",
      args: { name: "@acme/confluence", range: "^2", manager: "pnpm" },
    });
    expect(await fail(["call", "acme/jira@^2/getIssue"], cwd)).toMatchObject({
      code: "PackVersionMismatch",
      args: { name: "@acme/jira", range: "^2", manager: "pnpm" },
    });
  });

  test("a pack is only called by the name that it is installed under", async () => {
    const cwd = makeTree({
      "package.json": { name: "app", dependencies: { "@acme/jira": "npm:@fork/jira@1", desk: "1.0.0" } },
      "trailblaze.config.json": { toolsets: { mine: ["acme/jira/hello"] } },
      "node_modules/@acme/jira/package.json": packManifest("@fork/jira", {
        trailblaze: { tools: ["hello"] },
      }),
      "node_modules/@acme/jira/trailblaze/tools/hello.json": {
        name: "fork_hello",
        description: "Says hello.",
        inputSchema: { type: "object" },
        handler: "./hello.js",
      },
      "node_modules/@acme/jira/hello.js": "export default () => 'hello';\n",
      "node_modules/desk/package.json": packManifest("desk", { trailblaze: { toolsets: ["all"] } }),
      "node_modules/desk/trailblaze/toolsets/all.json": {
        name: "all",
        description: "All of them.",
        tools: ["acme/jira/hello"],
      },
    });
    const called = await runMain(["call", "acme/jira/hello"], { cwd });
    expect(called.stdout).toContain("hello");
    for (const args of [
      ["call", "fork/jira/hello"],
      ["start", "fork/jira/hello"],
    ]) {
      const error = await fail(args, cwd);
      expect([args, error]).toMatchObject([args, { code: "PackNotInstalled", args: { name: "@fork/jira" } }]);
    }
    const { stdout } = await runMain(["validate", "desk", "--json"], { cwd });
    expect(JSON.parse(stdout).problems).toEqual([]);
  });

  test("hints of validation and for shadowed copies name the package manager", async () => {
    const cwd = makeTree({
      ...yarn,
      "package.json": packManifest("x", {
        trailblaze: { toolsets: ["all"] },
        dependencies: { "@acme/jira": "*" },
      }),
      "trailblaze/toolsets/all.json": { name: "all", description: "All.", tools: ["acme/confluence/page"] },
      "node_modules/@acme/jira/package.json": packManifest("@acme/jira"),
      "node_modules/other/package.json": { name: "other" },
      "node_modules/other/node_modules/@acme/jira/package.json": packManifest("@acme/jira"),
    });
    const { problems } = JSON.parse((await runMain(["validate", "--json"], { cwd })).stdout);
    const args = { name: "@acme/confluence", manager: "yarn" };
    expect(problems).toMatchObject([{ code: "PackNotInstalled", args }]);
    const { stdout } = await runMain(["list", "--all", "--json"], { cwd });
    const found = JSON.parse(stdout).packs.flatMap((pack: { problems: unknown[] }) => pack.problems);
    expect(found).toMatchObject([{ code: "ShadowedPack", args: { name: "@acme/jira", manager: "yarn" } }]);
  });
});

test.each([
  ["install", "cursor", "acme/text/shout"],
  ["start", "acme/text/shout"],
  ["inspect", "acme/text/shout", "--kind", "server"],
])("the hint of `%s` for a name of another kind contains a command that works", async (...args) => {
  const pack = toolPack({ shout: {} }, "export const shout = () => 1;");
  const cwd = makePackProject({ "@acme/text": pack });
  const error = await fail(args, cwd);
  expect(error).toMatchObject({ code: "ServerNotFound", args: { otherKind: "tool" } });
  const [, command = ""] = /`trailblaze ([^`]+)`/.exec(error.hint) ?? [];
  const { stdout, exitCode } = await runMain([...command.split(" "), "--json"], { cwd });
  expect({ exitCode, item: JSON.parse(stdout) }).toMatchObject({
    exitCode: 0,
    item: { kind: "tool", qualifiedName: "acme/text/shout" },
  });
});
