import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { commands, parseCommandLine } from "../../src/cli/parse-command-line.ts";
import { runMain } from "../support/main.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { inRepository } from "../support/repository.ts";

const { version } = JSON.parse(readFileSync(inRepository("package.json"), "utf8"));
/** What is tested here comes before any project is looked for, so there is none. */
const run = (...args: readonly string[]) => runMain(args, { cwd: "/" });

describe("help", () => {
  test.each([["--help"], ["-h"], ["help"]])("%s lists every command on stdout", async (argument) => {
    const { stdout, stderr, exitCode } = await run(argument);
    for (const name of Object.keys(commands)) expect(stdout).toMatch(new RegExp(`^ +${name} +\\S`, "m"));
    expect(stdout).not.toContain("undefined");
    expect([exitCode, stderr]).toEqual([0, ""]);
  });

  test.each(Object.entries(commands))(
    "%s --help shows the command's options and the common options",
    async (name, load) => {
      const { options } = await load();
      const { stdout, stderr, exitCode } = await run(name, "--help");
      for (const option of [...Object.keys(options), "cwd", "json", "help"])
        expect(stdout).toContain(`--${option}`);
      expect(stdout).not.toContain("undefined");
      expect([exitCode, stderr]).toEqual([0, ""]);
    },
  );

  test.each([[["--help"]], [["list", "--help"]], [["--version"]]])("%j --json prints JSON", async (args) => {
    const { stdout, stderr, exitCode } = await run(...args, "--json");
    expect(() => JSON.parse(stdout)).not.toThrow();
    expect([exitCode, stderr]).toEqual([0, ""]);
  });
});

test.each([["--version"], ["-v"], ["version"]])(
  "%s prints the version and nothing else",
  async (argument) => {
    expect(await run(argument)).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: "" });
  },
);

test.each([[(folder: string) => [`--cwd=${folder}`]], [(folder: string) => ["--cwd", folder]]])(
  "--cwd names the folder of a command, with %s",
  async (write) => {
    const project = makeTree({ "package.json": packManifest("app") });
    const { stdout, stderr, exitCode } = await run("list", ...write(project), "--json");
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toMatchObject({ project, packs: [{ name: "app" }] });
  },
);

test("the folder of a command is absolute, however --cwd is written", async () => {
  for (const [folder, start] of [
    [undefined, process.cwd()],
    ["/app", "/app"],
  ] as const) {
    const { input } = await parseCommandLine("types", ["--cwd", "packs/a"], folder);
    expect(input.cwd).toBe(resolve(start, "packs/a"));
  }
});

test.each(
  [
    ["lst"],
    ["--cwd", "/", "list"],
    ["__proto__"],
    ["list", "--nope"],
    ["list", "--__proto__"],
    ["list", "--global=yes"],
    ["list", "--cwd"],
    ["list", "widgets"],
    ["list", "--\u202enope"],
  ].map((args) => [args]),
)(
  "the invalid arguments %j are explained on stderr, or with --json in one document, with exit code 2",
  async (args) => {
    const text = await run(...args);
    expect(text).toMatchObject({ exitCode: 2, stdout: "" });
    expect(text.stderr).toMatch(/^error InvalidArguments/);
    expect(text.stderr).not.toMatch(/undefined|node:|\bat .*:\d+/);
    const json = await run(...args, "--json");
    expect(json).toMatchObject({ exitCode: 2, stderr: "" });
    const { error, ...others } = JSON.parse(json.stdout);
    expect(others).toEqual({});
    expect(error).toMatchObject({ message: expect.any(String) });
    expect(["InvalidArguments", "ProjectNotFound"]).toContain(error.code);
    expect(text.stderr + json.stdout).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
  },
);
