import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeTree, packManifest } from "../support/packs.ts";
import { inRepository } from "../support/repository.ts";
import { runCli } from "../support/run-cli.ts";
import type { Tree } from "../support/tree.ts";

const server = join(import.meta.dirname, "../session/support/probe-server.mjs");
const config = {
  trailblazeSubprocessToolsets: [{ name: "everything", command: process.execPath, args: [server] }],
  servers: { mine: { tools: [] } },
  toolsets: { some: ["everything/probe_params"] },
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
  const PATH = [inRepository("node_modules/.bin"), process.env.PATH].join(delimiter);
  const { stdout } = await runCli([...args, "--json"], { cwd, env: { PATH } });
  return JSON.parse(stdout).error as { code: string; message: string; hint: string };
}

const lists = "`trailblaze list` shows the installed packs";

describe("a hint for a name from the config points to the config, not to an npm package", () => {
  test.each([
    [
      ["call", "everything/probe_params"],
      "ToolNotFound",
      `There is no tool "everything/probe_params": tools of the config's server "everything" have no qualified names.`,
      "Did you mean probe_params?",
    ],
    [["call", "everything/probe_parms"], "ToolNotFound", undefined, "Did you mean probe_params?"],
    [["call", "everything/x", "--install"], "ToolNotFound", undefined, "`trailblaze tools` lists its tools."],
    [
      ["inspect", "everything/echo"],
      "PackNotInstalled",
      `"everything" is a server of the project's config, not a pack.`,
      "`trailblaze tools` starts it and lists its tools.",
    ],
    [
      ["inspect", "everything"],
      "PackNotInstalled",
      undefined,
      "`trailblaze tools` starts it and lists its tools.",
    ],
    [
      ["inspect", "mine"],
      "PackNotInstalled",
      `"mine" is a server of the project's config, not a pack.`,
      undefined,
    ],
    [
      ["inspect", "host_tap"],
      "PackNotInstalled",
      `"host_tap" is a tool of the project's config, not a pack.`,
      "`trailblaze tools` lists it.",
    ],
    [["start", "everything/echo"], "ServerNotFound", undefined, "Did you mean everything?"],
    [["remove", "everything"], "PackNotInstalled", undefined, "Remove it from the config."],
    [["validate", "everything"], "PackNotInstalled", undefined, undefined],
  ])("%j", async (args, code, message, hint) => {
    const error = await fail(args);
    expect(error.code).toBe(code);
    if (message !== undefined) expect(error.message).toBe(message);
    if (hint !== undefined) expect(error.hint).toBe(hint);
    expect(error.hint).not.toMatch(/install|\badd\b/);
  });

  test("a hint for the config's own toolsets points to the config", async () => {
    const { stdout } = await runCli(["tools", "--json"], { cwd: makeProject() });
    const problems = JSON.parse(stdout).problems.filter(
      ({ path }: { path?: string[] }) => path?.[0] === "toolsets",
    );
    expect(problems).toMatchObject([{ code: "ToolNotFound", hint: "Did you mean probe_params?" }]);
  });
});

describe("a hint never suggests installing a package named after a mistyped word", () => {
  test.each([
    [
      ["inspect", "echo"],
      `${lists}, \`trailblaze search\` those in the registry. \`trailblaze tools\` lists the tools of the config's servers "mine" and "everything".`,
    ],
    [["validate", "nope"], `${lists}, \`trailblaze search\` those in the registry.`],
    [["remove", "nope"], `${lists}.`],
    [["remove", "@acme/jria"], `Did you mean @acme/jira? ${lists}.`],
    [["inspect", "getIssue"], `Did you mean acme/jira/getIssue? ${lists}`],
  ])("%j", async (args, hint) => {
    const error = await fail(args);
    expect(error.code).toBe("PackNotInstalled");
    expect(error.hint).toContain(hint);
    expect(error.hint).not.toMatch(/install |\badd\b/);
  });

  test("a hint never suggests installing a package that a module imports", async () => {
    const cwd = makeTree({
      "package.json": packManifest("x", { trailblaze: { tools: ["t"] } }),
      "trailblaze/tools/t.mjs": 'import a from "stranger"; export default a;',
    });
    const { stdout } = await runCli(["validate"], { cwd });
    expect(stdout).toContain('hint: Declare "stranger" among the "dependencies"');
    expect(stdout).not.toContain("install");
  });
});

const npm: Tree = { "package-lock.json": {} };
const pnpm: Tree = { "pnpm-lock.yaml": "lockfileVersion: '9.0'\n" };
const yarn: Tree = { "yarn.lock": "# yarn lockfile v1\n" };
const bun: Tree = { "bun.lock": "{}" };
const field = (packageManager: string): Tree => ({ "package.json": { name: "app", packageManager } });

describe("a hint names the project's own package manager", () => {
  test.each<[string, Tree, string]>([
    ["npm", npm, "npm install @acme/confluence"],
    ["no lockfile", {}, "npm install @acme/confluence"],
    ["pnpm", pnpm, "pnpm add @acme/confluence"],
    ["Yarn", yarn, "yarn add @acme/confluence"],
    ["Bun", bun, "bun add @acme/confluence"],
    ["packageManager", field("pnpm@9.15.0"), "pnpm add @acme/confluence"],
    ["a packageManager that is text of others", field("$(touch x);#@1"), "npm install @acme/confluence"],
  ])("%s", async (_what, files, command) => {
    const cwd = makeProject({ ...files, "trailblaze.config.json": {} });
    for (const args of [
      ["call", "acme/confluence/page"],
      ["inspect", "acme/confluence/page"],
      ["inspect", "@acme/confluence"],
      ["start", "acme/confluence/page"],
      ["install", "cursor", "acme/confluence/page"],
      ["validate", "@acme/confluence"],
    ]) {
      const { code, hint } = await fail(args, cwd);
      expect([args, code, hint]).toEqual([args, "PackNotInstalled", command]);
    }
  });

  test("includes the requested range, also where another version is installed", async () => {
    const cwd = makeProject({ ...pnpm, "trailblaze.config.json": {} });
    expect((await fail(["call", "acme/confluence@^2/page"], cwd)).hint).toBe(
      'pnpm add "@acme/confluence@^2"',
    );
    expect((await fail(["call", "acme/jira@^2/getIssue"], cwd)).hint).toBe('pnpm add "@acme/jira@^2"');
  });

  test("is pnpm in a member of a pnpm workspace", async () => {
    const root = makeTree({
      "package.json": { name: "root" },
      "pnpm-workspace.yaml": "packages: ['packages/*']\n",
      "packages/app/package.json": { name: "app" },
    });
    const error = await fail(["inspect", "acme/confluence/page"], join(root, "packages/app"));
    expect(error.hint).toBe("pnpm add @acme/confluence");
  });

  test("is its install command for a dependency that is declared but not installed", async () => {
    const cwd = makeProject(pnpm);
    expect((await fail(["remove", "@acme/absent"], cwd)).hint).toBe("package.json declares it: pnpm install");
  });

  test("also in validation, and for a shadowed copy", async () => {
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
    const { problems } = JSON.parse((await runCli(["validate", "--json"], { cwd })).stdout);
    expect(problems).toMatchObject([{ code: "PackNotInstalled", hint: "yarn add @acme/confluence" }]);
    const { stdout } = await runCli(["list", "--json"], { cwd });
    const hints = JSON.parse(stdout).packs.flatMap((pack: { problems: { hint?: string }[] }) =>
      pack.problems.map(({ hint }) => hint),
    );
    expect(hints).toEqual(["yarn why @acme/jira shows which package asks for which version."]);
  });
});

test("an empty project is sent to the command that adds packs", async () => {
  const { stdout } = await runCli(["list"], { cwd: makeTree({ "package.json": { name: "app" } }) });
  expect(stdout).toMatch(/`trailblaze search`.*`trailblaze add <pack>`.*\n$/);
});
