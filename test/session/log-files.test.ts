import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { findUserFolder } from "../../src/files/user-folders.ts";
import { openLogFolder } from "../../src/session/session-frame.ts";
import { openSession } from "../../src/session.ts";
import { makeTree } from "../support/packs.ts";

const hour = 60 * 60;
const day = 24 * hour;

function makeOld(all: string, name: string, age: number): string {
  const folder = join(all, name);
  mkdirSync(folder, { recursive: true });
  utimesSync(folder, Date.now() / 1000 - age, Date.now() / 1000 - age);
  return folder;
}

test("the logs of the last 20 sessions are kept, and those of a day; a process looks once an hour", () => {
  onTestFinished(() => void vi.useRealTimers());
  const state = makeTree({});
  const all = join(state, "trailblaze", "logs");
  for (let age = 1; age <= 22; age++) makeOld(all, `session${age}`, day + age * 100);
  const folder = openLogFolder("new", state);
  expect(folder).toBe(join(all, "new"));
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(readdirSync(all)).toHaveLength(20);
  expect(["session19", "session20"].map((name) => existsSync(join(all, name)))).toEqual([true, false]);
  for (let age = 1; age <= 22; age++) makeOld(all, `recent${age}`, day - hour - age * 100);
  openLogFolder("newer", state);
  expect(readdirSync(all)).toHaveLength(43);
  vi.useFakeTimers({ now: Date.now() + hour * 1000, toFake: ["Date"] });
  openLogFolder("newest", state);
  expect(readdirSync(all).filter((name) => name.startsWith("session"))).toEqual([]);
  expect(readdirSync(all)).toHaveLength(25);
});

test("if the default log folder cannot be created, logs go to a private temporary folder", () => {
  const file = join(makeTree({ file: "" }), "file");
  const folder = openLogFolder("new", file);
  onTestFinished(() => rmSync(folder, { recursive: true }));
  expect(folder.startsWith(join(tmpdir(), "trailblaze-logs-"))).toBe(true);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test("if the folder of the config cannot be created, a temporary one serves and is told", async () => {
  const cwd = makeTree({ "package.json": { name: "project" }, file: "" });
  const session = await openSession({ cwd, config: { logDir: "file/logs" } });
  onTestFinished(async () => {
    await session.close();
    rmSync(session.logDir, { recursive: true });
  });
  expect(session.logDir.startsWith(join(tmpdir(), "trailblaze-logs-"))).toBe(true);
  const message = expect.stringContaining(`(ENOTDIR), so the logs are in ${session.logDir}`);
  const place = { path: ["logDir"], severity: "warning" };
  expect(session.problems).toMatchObject([{ code: "InvalidConfig", message, ...place }]);
});

test("a log folder relative to the current folder is ignored", () => {
  expect(findUserFolder("state", "linux", { XDG_STATE_HOME: "state" }, "/home/ada")).toBe(
    "/home/ada/.local/state",
  );
  expect(findUserFolder("state", "linux", { XDG_STATE_HOME: "/state" }, "")).toBe("/state");
  expect(findUserFolder("state", "linux", {}, "")).toBeUndefined();
  expect(findUserFolder("state", "darwin", {}, "")).toBeUndefined();
});
