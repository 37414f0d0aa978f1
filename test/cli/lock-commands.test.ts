import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  configWith,
  jira,
  listed,
  lockOf,
  makeJiraProject,
  readLockText,
} from "../approval/support/locked-project.ts";
import { runMain } from "../support/main.ts";
import { collect } from "../support/processes.ts";
import { command } from "../support/run-cli.ts";
import { writeTree } from "../support/tree.ts";

const makeProject = () => makeJiraProject({ "@acme/jira": jira() }, configWith([listed("search")]));

const json = ({ stdout }: { stdout: string }) => JSON.parse(stdout);

/** Changes a text of an installed tool. */
function changeTool(cwd: string, description: string): void {
  writeTree(join(cwd, "node_modules/@acme/jira"), {
    "trailblaze/tools/createIssue.json": {
      name: "createIssue",
      description,
      inputSchema: { type: "object" },
      handler: "./handlers.js#createIssue",
    },
  });
}

test("approve without a terminal needs --yes, and names that exist or --all, and says how much is left", async () => {
  const cwd = makeProject();
  const approve = (...args: string[]) => runMain(["approve", ...args], { cwd });
  const refusals: [args: string[], exitCode: number, words: string][] = [
    [["--all"], 2, "Pass --yes"],
    [["--yes"], 2, "--all"],
    [["acme/jira/createIsue", "--yes"], 1, "acme/jira/createIssue"],
  ];
  for (const [args, exitCode, words] of refusals)
    expect(await approve(...args)).toMatchObject({ exitCode, stderr: expect.stringContaining(words) });
  expect(existsSync(lockOf(cwd))).toBe(false);
  expect(existsSync(join(cwd, "pids"))).toBe(false);
  expect(await approve("acme/jira/createIssue", "--yes")).toMatchObject({
    exitCode: 0,
    stdout: "Approved acme/jira/createIssue.\n3 items are still not approved: run `trailblaze diff`.\n",
  });
});

test("approve prints what it starts first, and what it has recorded as JSON", async () => {
  const cwd = makeProject();
  const approved = await runMain(["approve", "--all", "--yes", "--json"], { cwd });
  expect(approved).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("Starting remote: ") });
  expect(json(approved)).toEqual({
    lockFile: lockOf(cwd),
    changed: true,
    approved: ["acme/jira/createIssue", "acme/jira/deleteIssue", "acme/jira/all", "remote", "remote/search"],
    denied: [],
    pruned: [],
  });
  expect(await runMain(["diff"], { cwd })).toMatchObject({ exitCode: 0 });
  const again = await runMain(["approve", "--all", "--yes"], { cwd });
  expect(again).toMatchObject({ exitCode: 0, stdout: "Nothing to approve.\n" });
});

test("diff exits with 0, 1 and 2", async () => {
  const cwd = makeProject();
  expect(await runMain(["diff"], { cwd })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("LockMissing"),
  });
  await runMain(["approve", "--all", "-y"], { cwd });
  changeTool(cwd, "Creates.");
  const different = await runMain(["diff", "--static"], { cwd });
  expect(different).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('+    "Creates."') });
  const diff = expect.stringContaining('-    "The tool createIssue."\n+    "Creates."');
  const changed = { pack: "@acme/jira", kind: "tool", name: "createIssue", change: "changed", diff };
  expect(json(await runMain(["diff", "--json", "acme/jira"], { cwd }))).toEqual({
    lockFile: lockOf(cwd),
    inSync: false,
    entries: [changed],
    problems: [],
  });
  writeFileSync(lockOf(cwd), readLockText(cwd).replace("createIssue", "x"));
  expect(await runMain(["diff"], { cwd })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("LockMalformed"),
  });
  expect(await runMain(["diff", "nothing"], { cwd })).toMatchObject({ exitCode: 2 });
  // It describes what servers list, which the lock says.
  expect(await runMain(["docs", "acme/jira"], { cwd })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("LockMalformed"),
  });
});

test("a server that fails to start makes the exit code 1", async () => {
  const cwd = makeJiraProject({}, configWith([], { env: { PROBE_TOOLS: "{" } }));
  const result = await runMain(["approve", "remote", "--yes"], { cwd });
  expect(result).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("ServerStartFailed") });
  expect(await runMain(["diff"], { cwd })).toMatchObject({ exitCode: 1 });
});

test("a broken item of a pack is shown, and is no difference", async () => {
  const cwd = makeProject();
  rmSync(join(cwd, "node_modules/@acme/jira/handlers.js"));
  const approved = await runMain(["approve", "--all", "--yes"], { cwd });
  expect(approved).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("HandlerNotFound") });
  expect(await runMain(["diff"], { cwd })).toMatchObject({ exitCode: 0 });
});

test("texts of packs cannot control the terminal", async () => {
  const cwd = makeProject();
  await runMain(["approve", "--all", "--yes"], { cwd });
  changeTool(cwd, "Creates.\u001b[2K\r\u202eDeletes.\n::error::x");
  for (const args of [["diff"], ["diff", "--json"], ["approve", "--all", "--dry-run"]]) {
    const { stdout, stderr } = await runMain(args, { cwd });
    expect(`${stdout}${stderr}`).not.toMatch(/[\u001b\r\u202e]/);
  }
});

test("--frozen needs a lock, and one that does not differ", async () => {
  const cwd = makeProject();
  writeFileSync(join(cwd, "trail.yaml"), "- createIssue: {}\n");
  const commands = [["tools"], ["call", "createIssue"], ["run", "trail.yaml"], ["types"]];
  const exitCodes = async () => {
    const codes: number[] = [];
    for (const args of commands) codes.push((await runMain([...args, "--frozen"], { cwd })).exitCode);
    return codes;
  };
  expect(await exitCodes()).toEqual([2, 2, 2, 2]);
  expect(existsSync(join(cwd, "pids"))).toBe(false);
  await runMain(["approve", "--all", "--yes"], { cwd });
  expect(await exitCodes()).toEqual([0, 0, 0, 0]);
  changeTool(cwd, "Creates.");
  expect(await exitCodes()).toEqual([1, 1, 1, 1]);
  // Its input stays open, as a client's does, whose first message starts the session.
  const started = spawn(process.execPath, [command, "start", "--frozen"], { cwd });
  started.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  const stderr = collect(started.stderr);
  expect(await once(started, "close")).toEqual([1, null]);
  expect(stderr()).toContain("LockMismatch");
});

test("doctor checks the lock", async () => {
  const cwd = makeProject();
  const check = async (...args: string[]) => {
    const result = await runMain(["doctor", "--json", ...args], { cwd });
    const { checks } = json(result) as { checks: { name: string; ok: boolean; summary: string }[] };
    const { ok, summary } = checks.find(({ name }) => name === "lock") ?? {};
    return { exitCode: result.exitCode, ok, summary };
  };
  expect(await check()).toEqual({
    exitCode: 0,
    ok: true,
    summary: "none, so everything that is installed is used",
  });
  expect(await check("--frozen")).toMatchObject({ exitCode: 1, ok: false });
  await runMain(["approve", "--all", "--yes"], { cwd });
  expect(await check("--frozen")).toEqual({ exitCode: 0, ok: true, summary: "approves what is installed" });
  changeTool(cwd, "Creates.");
  const summary = "differs from what is installed: @acme/jira; run `trailblaze diff`";
  expect(await check()).toEqual({ exitCode: 0, ok: true, summary });
  expect(await check("--frozen")).toEqual({ exitCode: 1, ok: false, summary });
  writeFileSync(lockOf(cwd), "{}");
  expect(await check()).toMatchObject({ exitCode: 2, ok: false });
});

test("import shows what it adds and asks, leaves approval to `approve`, and refuses a lock that it cannot use", async () => {
  const cwd = makeJiraProject();
  await runMain(["approve", "--all", "--yes"], { cwd });
  const approved = readLockText(cwd);
  const { mcpServers } = configWith([listed("search")]);
  const input = JSON.stringify({ mcpServers });
  const file = join(cwd, "trailblaze.config.yaml");
  const refused = await runMain(["import", "-"], { cwd, input });
  expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--yes") });
  expect(existsSync(file)).toBe(false);
  const { exitCode, stdout, stderr } = await runMain(["import", "-", "--yes"], { cwd, input });
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining("+  remote:")]);
  expect(stdout).toContain("Run `trailblaze approve remote` to read and approve it.");
  expect(readLockText(cwd)).toBe(approved);
  expect(existsSync(join(cwd, "pids"))).toBe(false);
  expect(await runMain(["import", "-"], { cwd, input })).toMatchObject({ exitCode: 0 });
  writeFileSync(lockOf(cwd), "{}");
  const other = JSON.stringify({ mcpServers: { other: mcpServers.remote } });
  expect(await runMain(["import", "-", "--yes"], { cwd, input: other })).toMatchObject({ exitCode: 2 });
  expect(readFileSync(file, "utf8")).not.toContain("other");
});
