import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { command, runCli } from "../support/run-cli.ts";
import { runProcess } from "../support/run-process.ts";
import { jira, makeJiraProject, readLockText } from "./support/locked-project.ts";

const names = ["@acme/one", "@acme/two", "@acme/three", "@acme/four"];
const makeProject = () => makeJiraProject(Object.fromEntries(names.map((name) => [name, jira()])));
const approve = (cwd: string, ...args: string[]) => runCli(["approve", ...args, "--yes"], { cwd });

test("processes that approve at once lose nothing", async () => {
  const cwd = makeProject();
  for (const { exitCode, stderr } of await Promise.all(names.map((name) => approve(cwd, name))))
    expect(exitCode, stderr).toBe(0);
  expect(Object.keys(JSON.parse(readLockText(cwd)).packs)).toEqual(names.toSorted());
  expect(await runCli(["diff"], { cwd })).toMatchObject({ exitCode: 0 });
  expect(readdirSync(cwd).filter((name) => name.includes("trailblaze.lock"))).toEqual(["trailblaze.lock"]);
});

/** Kills the process at a call of `fs`, before it or after it. A write that is cut off has written half. */
const killAt = (call: "writeSync" | "renameSync", isAfter: boolean) => `
const fs = require("node:fs");
const { ${call}: original } = fs;
const isOfLock = (target) => {
  const path = typeof target === "number" ? fs.readlinkSync("/proc/self/fd/" + target) : target;
  return String(path).includes("trailblaze.lock");
};
fs.${call} = (target, data, ...others) => {
  if (!isOfLock(target)) return original(target, data, ...others);
  if (${isAfter}) original(target, ${call === "writeSync" ? "data.subarray(0, data.length >> 1)" : "data"});
  process.kill(process.pid, "SIGKILL");
};
`;

test.skipIf(process.platform !== "linux").each([
  ["writes half of it", "writeSync", true],
  ["has replaced it", "renameSync", true],
] as const)(
  "an approval that is killed when it %s leaves the old lock or the new one",
  async (_title, call, isAfter) => {
    const cwd = makeProject();
    await approve(cwd, "@acme/one");
    const before = readLockText(cwd);
    const killer = join(cwd, "killer.cjs");
    writeFileSync(killer, killAt(call, isAfter));
    const args = ["--require", killer, command, "approve", "--all", "--yes"];
    const killed = runProcess(process.execPath, args, { cwd, env: process.env, timeoutMs: 60_000 });
    await expect(killed).rejects.toThrow("SIGKILL");
    const left = readLockText(cwd);
    const isNew = call === "renameSync" && isAfter;
    expect(left === before).toBe(!isNew);
    // What a killed process has locked stays so for some seconds.
    utimesSync(join(cwd, "trailblaze.lock.lock"), 0, 0);

    expect(await approve(cwd, "--all")).toMatchObject({ exitCode: 0 });
    const text = readLockText(cwd);
    if (isNew) expect(text).toBe(left);
    expect(Object.keys(JSON.parse(text).packs)).toEqual(names.toSorted());
    expect(readdirSync(cwd).filter((name) => name.startsWith(".trailblaze.lock"))).toEqual([]);
  },
);
