import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, realpathSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { templateNames } from "../../src/author/templates/template.ts";
import type { OptionDescription } from "../../src/cli/command.ts";
import { commands, commonOptions } from "../../src/cli/commands.ts";
import { reportFormats } from "../../src/cli/report/report-formats.ts";
import { platforms } from "../../src/extension-schema/meta-keys.ts";
import { clients } from "../../src/install/clients/index.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { command, runCli } from "../support/run-cli.ts";
import { runProcess } from "../support/run-process.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

const makeProject = (tree: Record<string, unknown> = {}) =>
  makeTree({
    "package.json": { name: "app", dependencies: { "@acme/jira": "*", notes: "*" } },
    "node_modules/@acme/jira/package.json": packManifest("@acme/jira", {
      trailblaze: { servers: ["board"], tools: ["createIssue", "getIssue"], toolsets: ["triage"] },
    }),
    "node_modules/notes/package.json": packManifest("notes", { trailblaze: { tools: ["createNote"] } }),
    "trailblaze.config.yaml": { mcpServers: { memory: { command: "touch", args: ["started"] } } },
    ...tree,
  });

/** The names that are offered for the last word, without descriptions. */
async function complete(cwd: string, ...words: readonly string[]): Promise<string[]> {
  const { stdout, stderr, exitCode } = await runCli(["__complete", "--", ...words], { cwd });
  expect(stderr).toBe("");
  expect(exitCode).toBe(0);
  const lines = stdout.split("\n").filter((line) => line !== "");
  return lines.map((line) => line.split("\t")[0] as string);
}

describe("candidates", () => {
  const names = Object.keys(commands);
  const optionsOf = (name: string) =>
    Object.keys({ ...commands[name]?.options, ...commonOptions }).map((option) => `--${option}`);

  test.concurrent("all commands, also behind options and `help`", async () => {
    expect(await complete("/", "")).toEqual(names);
    expect(await complete("/", "ins")).toEqual(["inspect", "install"]);
    expect(await complete("/", "--json", "--cwd", "/", "ins")).toEqual(["inspect", "install"]);
    expect(await complete("/", "help", "ins")).toEqual(["inspect", "install"]);
    expect(await complete("/")).toEqual(names);
  });

  test.concurrent("commands and options have their descriptions", async () => {
    const run = async (...words: string[]) =>
      (await runCli(["__complete", "--", ...words], { cwd: "/" })).stdout;
    expect(await run("lis")).toBe(`list\t${commands.list?.summary}\n`);
    expect(await run("list", "--glo")).toBe("--global\tAlso list globally installed packs\n");
  });

  test.concurrent("a command's options, without those that were given and cannot be repeated", async () => {
    expect(await complete("/", "call", "--")).toEqual(optionsOf("call"));
    const left = await complete("/", "call", "--served", "--memory", "a=b", "--args", "{}", "--");
    expect(left).toEqual(optionsOf("call").filter((option) => !["--served", "--args"].includes(option)));
    expect(await complete("/", "call", "--", "--")).toEqual([]);
  });

  test.concurrent("the values of an option, in both forms", async () => {
    expect(await complete("/", "validate", "--format", "")).toEqual([...reportFormats]);
    expect(await complete("/", "validate", "--format=s")).toEqual(["--format=sarif"]);
    expect(await complete("/", "call", "--timeout", "")).toEqual([]);
    expect(await complete("/", "call", "--no-such-option=")).toEqual([]);
  });

  test.concurrent("words of a command", async () => {
    expect(await complete("/", "list", "tool")).toEqual(["tools", "toolsets"]);
    expect(await complete("/", "list", "tools", "")).toEqual([]);
    expect(await complete("/", "completion", "")).toEqual(["bash", "zsh", "fish"]);
    expect(await complete("/", "explain", "HandlerN")).toEqual(["HandlerNotFound"]);
    expect(await complete("/", "install", "")).toEqual(clients.map(({ id }) => id));
  });

  test.concurrent.each(["nothing", "__proto__", "constructor", "--", "--cwd"])(
    "nothing for the unknown command %s",
    async (name) => {
      expect(await complete("/", name, "")).toEqual([]);
      expect(await complete("/", "list", `--${name}`, "nothing")).toEqual([]);
    },
  );

  test("packs, items and servers of the project's config; nothing starts", async () => {
    const cwd = makeProject();
    const packs = ["@acme/jira", "notes"];
    expect(await complete(cwd, "validate", "")).toEqual(packs);
    expect(await complete(cwd, "remove", "notes", "@")).toEqual(["@acme/jira"]);
    expect(await complete(cwd, "inspect", "acme/jira/")).toEqual([
      "acme/jira/board",
      "acme/jira/createIssue",
      "acme/jira/getIssue",
      "acme/jira/triage",
    ]);
    expect(await complete(cwd, "call", "acme/jira/c")).toEqual(["acme/jira/createIssue"]);
    expect(await complete(cwd, "call", "acme/jira/createIssue", "")).toEqual([]);
    expect(await complete(cwd, "start", "")).toEqual(["acme/jira/board", "memory", ...packs]);
    expect(await complete(cwd, "install", "cursor", "m")).toEqual(["memory"]);
    expect(await complete(cwd, "approve", "notes", "memory", "n")).toEqual(["notes", "notes/createNote"]);
    expect(await complete("/", "start", "--cwd", cwd, "mem")).toEqual(["memory"]);
    expect(existsSync(join(cwd, "started"))).toBe(false);
  });

  test("a broken config does not hide the packs, and a folder without a project offers nothing", async () => {
    const cwd = makeProject({ "trailblaze.config.yaml": { mcpServers: { "a\nb": { command: "x" } } } });
    expect(await complete(cwd, "start", "")).toEqual(["acme/jira/board", "@acme/jira", "notes"]);
    expect(await complete("/", "start", "")).toEqual([]);
  });
});

const hostile = [
  "$(touch hacked)",
  "`touch hacked`",
  "a;touch hacked",
  "a\ttouch",
  "a\nb",
  "~root",
  "-x",
  "*",
  "a'b",
  "é",
];

test.each(hostile)("the name %j is not offered", async (name) => {
  const cwd = makeProject({
    "node_modules/notes/package.json": packManifest("notes", {
      trailblaze: { tools: [name], servers: [name] },
    }),
    "trailblaze.config.yaml": { mcpServers: { [name]: { command: "x" } } },
  });
  expect(await complete(cwd, "start", "")).toEqual(["acme/jira/board", "@acme/jira", "notes"]);
  expect(await complete(cwd, "inspect", "notes/")).toEqual([]);
});

test("the values of options are those that the commands accept", () => {
  const valuesOf = (name: string, option: string) => commands[name]?.options[option]?.values;
  expect(valuesOf("validate", "format")).toEqual([...reportFormats]);
  expect(valuesOf("init", "template")).toEqual([...templateNames]);
  expect([...(valuesOf("tools", "platform") ?? [])].sort()).toEqual([...platforms]);
  const all = Object.values(commands).flatMap(({ options }) => Object.values<OptionDescription>(options));
  for (const { values = [], description } of all)
    for (const value of values) expect(description).toContain(value);
  for (const { values = [], usage } of Object.values(commands))
    for (const value of values) expect(usage).toContain(value);
});

test.each([
  [[], "Missing arguments: trailblaze completion <bash|zsh|fish>"],
  [["csh"], 'Unknown shell "csh"'],
])("`completion` with %j lists the shells", async (args, reason) => {
  const { stdout, exitCode } = await runCli(["completion", ...args, "--json"], { cwd: "/" });
  expect(JSON.parse(stdout).error).toMatchObject({ code: "InvalidArguments", args: { reason } });
  expect(exitCode).toBe(2);
});

test("`completion --json` prints the script that it prints otherwise", async () => {
  const { stdout } = await runCli(["completion", "bash"], { cwd: "/" });
  const document = JSON.parse((await runCli(["completion", "bash", "--json"], { cwd: "/" })).stdout);
  expect(document).toEqual({ shell: "bash", script: stdout });
});

/** Runs a program of a shell with the built `trailblaze` in its PATH, and returns the lines of its output. */
async function runShell(shell: string, cwd: string, program: string, line: string): Promise<string[]> {
  const { path, remove } = makeTemporaryFolder();
  onTestFinished(remove);
  const bin = join(path, "trailblaze");
  writeFileSync(bin, `#!/bin/sh\nexec "${process.execPath}" "${realpathSync(command)}" "$@"\n`);
  chmodSync(bin, 0o755);
  const env = { ...process.env, HOME: path, PATH: [path, process.env.PATH].join(delimiter), LINE: line };
  const { stdout, stderr } = await runProcess(shell, ["-c", program], { cwd, env, timeoutMs: 100_000 });
  expect(stderr).toBe("");
  return stdout.split("\n").filter((one) => one !== "");
}

/** What the shell does with the line when the user presses Tab at its end. */
const shells: Readonly<Record<string, string>> = {
  // Splits off the word as readline does, at the characters of COMP_WORDBREAKS.
  bash: `source <(trailblaze completion bash)
    complete -p trailblaze >/dev/null || exit
    COMP_LINE=$LINE COMP_POINT=\${#LINE}
    _trailblaze trailblaze "\${LINE##*[\${COMP_WORDBREAKS}]}" ""
    word=\${LINE##*[[:space:]]}
    for one in "\${COMPREPLY[@]}"; do echo "\${word%"\${LINE##*[\${COMP_WORDBREAKS}]}"}$one"; done`,
  // Outside of the line editor, what compsys sets and what it is called with.
  zsh: `compdef() { registered=$2 }
    _describe() { local one; for one in "\${(@P)2}"; do print -r -- "\${one%%:*}"; done }
    _files() { print -rl -- *(N) }
    source <(trailblaze completion zsh)
    [[ $registered == trailblaze ]] || exit
    words=("\${(@)\${(s: :)LINE}}"); [[ $LINE == *" " ]] && words+=("")
    CURRENT=$#words PREFIX=$words[-1]
    _trailblaze`,
  fish: `trailblaze completion fish | source
    complete -C "$LINE" | string replace -r '\\t.*' ''`,
};

const isInstalled = (shell: string) => spawnSync(shell, ["--version"]).status === 0;

describe.each(Object.entries(shells))("in %s", (shell, program) => {
  const isMissing = !isInstalled(shell);
  const press = async (line: string, cwd = makeProject()) =>
    (await runShell(shell, cwd, program, line)).sort();

  test.skipIf(isMissing)("completes commands, options, values and names", async () => {
    expect(await press("trailblaze ins")).toEqual(["inspect", "install"]);
    expect(await press("trailblaze list ")).toEqual(["prompts", "resources", "servers", "tools", "toolsets"]);
    expect(await press("trailblaze list --glo")).toEqual(["--global"]);
    expect(await press("trailblaze validate --format=s")).toEqual(["--format=sarif"]);
    expect(await press("trailblaze inspect @a")).toEqual(["@acme/jira"]);
    expect(await press("trailblaze call acme/jira/c")).toEqual(["acme/jira/createIssue"]);
    expect(await press("trailblaze start mem")).toEqual(["memory"]);
  });

  test.skipIf(isMissing)("evaluates neither the line nor a name", async () => {
    const mcpServers = { "$(touch hacked)": { command: "x" }, "`touch hacked`": { command: "x" } };
    const cwd = makeProject({ "trailblaze.config.yaml": { mcpServers } });
    expect(await press("trailblaze start acme", cwd)).toEqual(["acme/jira/board"]);
    await press("trailblaze start $(touch hacked) ; touch hacked `touch hacked` ", cwd);
    expect(existsSync(join(cwd, "hacked"))).toBe(false);
  });
});
