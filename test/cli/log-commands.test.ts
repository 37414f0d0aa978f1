import { describe, expect, test } from "vitest";
import { disarmCommands, isRunByRunner } from "../../src/cli/output.ts";
import { runMain } from "../support/main.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { runCli } from "../support/run-cli.ts";

/** What the runners of GitHub (also its older form), Azure and TeamCity take as commands. */
const commands = /^\s*::|##\w*\[/m;

describe("log commands of CI runners", () => {
  test.each([
    ["::add-mask::a", ":\\u{003a}add-mask::a"],
    ["one\n \t::error::x\nthree", "one\n \t:\\u{003a}error::x\nthree"],
    ["\u3000::error::x", "\u3000:\\u{003a}error::x"],
    ["a ##[add-mask]b", "a ##\\u{005b}add-mask]b"],
    ["##vso[task.setvariable variable=a]b", "##vso\\u{005b}task.setvariable variable=a]b"],
    ["##teamcity[x]", "##teamcity\\u{005b}x]"],
    ["std::string ## [1] a::b\n: : ok\n### [x](y)", "std::string ## [1] a::b\n: : ok\n### [x](y)"],
  ])("the text %j is shown as %j in the log of a CI job", (text, shown) => {
    expect(disarmCommands(text)).toBe(shown);
  });

  test("a CI job is detected by the environment variables of its runner", () => {
    expect(isRunByRunner({ GITHUB_ACTIONS: "true" })).toBe(true);
    expect(isRunByRunner({ TF_BUILD: "True" })).toBe(true);
    expect(isRunByRunner({ TEAMCITY_VERSION: "2025.1" })).toBe(true);
    expect(isRunByRunner({ GITHUB_ACTIONS: "false", CI: "true" })).toBe(false);
  });
});

const text =
  "Hello.\n::stop-commands::x\r::add-mask::a\n  ::error file=README.md,line=1::injected\nand ##[add-mask]b";
const handler = `export default () => {
  console.log(${JSON.stringify(text)});
  return ${JSON.stringify(text)};
}
export const failing = () => { throw new Error(${JSON.stringify(text)}); };
`;

function makeProject(): string {
  const tool = (name: string, fields: object = {}) => ({
    name,
    description: text,
    inputSchema: { type: "object", properties: { a: { type: "string", description: text, default: text } } },
    handler: "./h.js",
    ...fields,
  });
  return makeTree({
    "package.json": packManifest("x", {
      description: text,
      trailblaze: { tools: ["t", "u"], servers: ["s"], prompts: ["p"], toolsets: ["broken"] },
    }),
    "h.js": handler,
    "trailblaze/tools/t.json": tool("x_t"),
    "trailblaze/tools/u.json": tool("x_u", { handler: "./h.js#failing" }),
    "trailblaze/servers/s.json": { name: "s", tools: ["t"], instructions: text },
    "trailblaze/prompts/p.json": { name: "p", description: text, content: text },
    "trailblaze/toolsets/broken.json": `{ "name": "broken",\n::error::x\n##[add-mask]y`,
    "trail.yaml": "- x_t: {}\n- x_u: {}\n",
  });
}

describe("text from packs and tools in a GitHub Actions log", () => {
  test.each([
    [["inspect", "x"]],
    [["list", "tools", "--json"]],
    [["validate"]],
    [["call", "x_t"]],
    [["run", "trail.yaml"]],
    [["docs", "x"]],
    [["explain", "##[add-mask]x"]],
    [["\n::error::x"]],
  ])("`trailblaze` with %j prints no workflow command from a pack or a tool", async (args) => {
    // Where a tool is called, its code prints, too.
    const run = ["call", "run"].includes(args[0] ?? "") ? runCli : runMain;
    const { stdout, stderr } = await run(args, { cwd: makeProject(), env: { GITHUB_ACTIONS: "true" } });
    expect(stdout + stderr).not.toBe("");
    expect(stdout).not.toMatch(commands);
    expect(stderr).not.toMatch(commands);
    if (args.includes("--json")) expect(() => JSON.parse(stdout)).not.toThrow();
  });

  test("GitHub annotations contain no workflow command from a pack", async () => {
    const { stdout } = await runMain(["validate", "--format", "github"], {
      cwd: makeProject(),
      env: { GITHUB_ACTIONS: "true" },
    });
    for (const line of stdout.trimEnd().split("\n")) expect(line).toMatch(/^::(error|warning|notice) [^#]*$/);
  });

  test("a tool's text is unchanged outside GitHub Actions, in JSON and in generated source", async () => {
    const cwd = makeProject();
    const elsewhere = await runCli(["call", "x_t"], { cwd, env: { GITHUB_ACTIONS: undefined } });
    expect(elsewhere.stdout).toContain("\n::stop-commands::x ::add-mask::a\n");
    const { stdout } = await runCli(["call", "x_t", "--json"], { cwd, env: { GITHUB_ACTIONS: "true" } });
    expect(JSON.parse(stdout).message).toBe(text);
    const types = await runMain(["types"], { cwd, env: { GITHUB_ACTIONS: "true" } });
    const here = await runMain(["types"], { cwd, env: { GITHUB_ACTIONS: undefined } });
    expect(types.stdout).toBe(here.stdout);
  });
});
