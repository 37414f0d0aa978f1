import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findUserFolder } from "../../src/files/user-folders.ts";
import { openLogFolder } from "../../src/session/log-files.ts";
import { makeTree } from "../support/packs.ts";

/** No system has a process of this number. */
const nobody = 2 ** 30;

function makeOld(all: string, name: string, age: number, pid: number | undefined): string {
  const folder = join(all, name);
  mkdirSync(folder, { recursive: true });
  if (pid !== undefined) writeFileSync(join(folder, "pid"), `${pid}\n`);
  const time = Date.now() / 1000 - age;
  utimesSync(folder, time, time);
  return folder;
}

test("logs of the oldest sessions are removed unless their process runs", () => {
  const all = join(makeTree({}), "logs");
  const running = makeOld(all, "running", 9000, process.pid);
  const over = makeOld(all, "over", 8000, nobody);
  const plain = makeOld(all, "plain", 7000, undefined);
  for (let index = 0; index < 19; index++) makeOld(all, `recent${index}`, 100 + index, nobody);
  const folder = openLogFolder("new", undefined, all);
  expect(folder).toBe(join(all, "new"));
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect([running, over, plain].map((path) => existsSync(path))).toEqual([true, false, false]);
  expect(readdirSync(all)).toHaveLength(21);
});

test("logs of a process that opens many sessions are removed, too", () => {
  const all = join(makeTree({}), "logs");
  for (let index = 0; index < 205; index++) makeOld(all, `mine${index}`, 100 + index, process.pid);
  openLogFolder("new", undefined, all);
  expect(readdirSync(all)).toHaveLength(200);
  expect(existsSync(join(all, "mine0"))).toBe(true);
});

test("a log folder that the user chose is created and never cleaned", () => {
  const own = join(makeTree({}), "a", "b");
  expect(openLogFolder("any", own)).toBe(own);
  expect(readdirSync(own)).toEqual([]);
});

test("if the default log folder cannot be created, logs go to a private temporary folder", () => {
  const file = join(makeTree({ file: "" }), "file");
  const folder = openLogFolder("new", undefined, join(file, "logs"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  expect(folder.startsWith(join(tmpdir(), "trailblaze-logs-"))).toBe(true);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test("a log folder relative to the current folder is ignored", () => {
  expect(findUserFolder("state", "linux", { XDG_STATE_HOME: "state" }, "/home/ada")).toBe(
    "/home/ada/.local/state",
  );
  expect(findUserFolder("state", "linux", { XDG_STATE_HOME: "/state" }, "")).toBe("/state");
  expect(findUserFolder("state", "linux", {}, "")).toBeUndefined();
  expect(findUserFolder("state", "darwin", {}, "")).toBeUndefined();
});
