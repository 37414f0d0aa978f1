import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runMain } from "../support/main.ts";
import { makeTree } from "../support/packs.ts";
import { collect } from "../support/processes.ts";
import { command } from "../support/run-cli.ts";
import { makeProbePack } from "./probe-pack.ts";

const runCommand = (cwd: string, ...args: string[]) => runMain(args, { cwd });

describe("the command init", () => {
  test("init creates a pack, by default in the current folder, and prints the next steps or JSON", async () => {
    const cwd = makeTree({});
    const { stdout, stderr, exitCode } = await runCommand(cwd, "init", "front-desk", "--template", "data");
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(stdout).toBe(`Created front-desk in front-desk from the template data:
  package.json
  trailblaze/tools/greet.yaml
  skills/greeting/SKILL.md
  lib/greet.js
  test/greet.test.js
  README.md
  .gitignore

Next steps:
  cd front-desk
  npm install
  npm test
  npx trailblaze validate --strict
  npx trailblaze call front_desk_greet name=Ada language=fr
`);
    const folder = makeTree({});
    const other = await runCommand(folder, "init", "--name", "@acme/desk", "--yes", "--json");
    const { files, ...rest } = JSON.parse(other.stdout);
    expect(rest).toEqual({ directory: folder, name: "@acme/desk", template: "data" });
    expect(files).toContain("trailblaze/tools/greet.yaml");
  });

  test.each([
    ["a folder that is not empty", ["init", "full", "--yes"], "full"],
    ["a name that npm refuses", ["init", "new", "--yes", "--name", "No Good"], "No Good"],
    ["a template that is none", ["init", "new", "--template", "nope"], "nope"],
  ])("init rejects %s and changes nothing", async (_what, args, reason) => {
    const cwd = makeTree({ "full/package.json": "{}" });
    const { stdout, exitCode } = await runCommand(cwd, ...args, "--json");
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout).error).toMatchObject({
      code: "InvalidArguments",
      args: { reason: expect.stringContaining(reason) },
    });
    expect(readdirSync(cwd, { recursive: true }).sort()).toEqual(["full", join("full", "package.json")]);
  });
});

test("types prints declarations, writes them to a file, and checks whether a file is up to date", async () => {
  const { directory, running } = makeProbePack();
  const printed = await runCommand(directory, "types");
  expect(printed.exitCode).toBe(0);
  expect(printed.stdout).toContain('"probe_hello": {\n    arguments: { [key: string]: unknown };\n  };');
  expect(printed.stdout).toContain('"probe_one"');
  const check = () => runCommand(directory, "types", "--check", "--out", "types/tools.d.ts");
  expect(await check()).toMatchObject({ exitCode: 1, stdout: expect.stringContaining("out of date") });
  expect(await runCommand(directory, "types", "--out", "tools.d.ts")).toMatchObject({
    exitCode: 0,
    stdout: "tools.d.ts: written\n",
  });
  expect(readFileSync(join(directory, "tools.d.ts"), "utf8")).toBe(printed.stdout);
  const upToDate = await runCommand(directory, "types", "--check", "--out", "tools.d.ts", "--json");
  expect(upToDate.exitCode).toBe(0);
  expect(JSON.parse(upToDate.stdout)).toEqual({
    files: [{ file: "tools.d.ts", changed: false, diff: "" }],
    tools: ["probe_hello", "probe_one"],
    problems: [],
  });
  writeFileSync(join(directory, "tools.d.ts"), "// mine\n");
  const drifted = await runCommand(directory, "types", "--check", "--out", "tools.d.ts", "--json");
  expect(drifted.exitCode).toBe(1);
  expect(JSON.parse(drifted.stdout)).toMatchObject({ files: [{ changed: true }] });
  expect(readFileSync(join(directory, "tools.d.ts"), "utf8")).toBe("// mine\n");
  expect(await runCommand(directory, "types", "--check")).toMatchObject({ exitCode: 2 });
  expect(running()).toEqual([]);
});

test("dev ends cleanly on a signal, with one JSON document on stdout", async () => {
  const { directory, pids, running } = makeProbePack();
  const child = spawn(process.execPath, [command, "dev", directory, "--json"], { stdio: "pipe" });
  let stderr = "";
  const stdout = collect(child.stdout);
  const waitFor = (words: string) =>
    new Promise<void>((resolve) => {
      child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
        stderr += chunk;
        if (stderr.includes(words)) resolve();
      });
    });
  await waitFor("A session is open");
  expect(stderr).toContain("Watching for changes.");
  expect(running()).toEqual(pids());
  const renamed = waitFor("  probe_two");
  const server = join(directory, "trailblaze/servers/probe.json");
  writeFileSync(server, readFileSync(server, "utf8").replace("probe_one", "probe_two"));
  await renamed;
  child.kill("SIGTERM");
  expect(await once(child, "close")).toEqual([0, null]);
  expect(JSON.parse(stdout())).toMatchObject({ ok: true, tools: ["probe_hello", "probe_two"], problems: [] });
  expect(pids().length).toBeGreaterThan(1);
  expect(running()).toEqual([]);
});
