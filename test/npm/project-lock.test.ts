import {
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { saveFiles } from "../../src/npm/managers/project-files.ts";
import { lockProject } from "../../src/npm/managers/project-lock.ts";
import { makeTree } from "../support/packs.ts";

const lock = (folder: string, project = "/project", waitMs = 300) =>
  lockProject(folder, project, { waitMs, signal: undefined });

describe("the lock of a project", () => {
  test("the lock of a project has one holder at a time", async () => {
    const folder = makeTree({});
    const release = await lock(folder);
    expect(await lock(folder)).toBeUndefined();
    expect(await lock(folder, "/other")).toBeTypeOf("function");
    const next = lock(folder, "/project", 20_000);
    release?.();
    expect(await next).toBeTypeOf("function");
  });

  test("the lock of a project is taken over from a holder that no longer refreshes it", async () => {
    const folder = makeTree({});
    await lock(folder);
    utimesSync(join(folder, readdirSync(folder)[0] ?? ""), 1, 1);
    const release = await lock(folder);
    release?.();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("a process that waits for the lock of a project learns why", async () => {
    const folder = makeTree({});
    await lock(folder);
    const waits: string[] = [];
    const options = { waitMs: 600, signal: undefined, onWait: (what: string) => waits.push(what) };
    expect(await lockProject(folder, "/project", options)).toBeUndefined();
    expect(waits).toEqual(["another program, which is changing the packages of this project"]);
  });

  test("waiting for the lock of a project ends when the caller's signal aborts", async () => {
    const folder = makeTree({});
    await lock(folder);
    const signal = AbortSignal.abort();
    expect(await lockProject(folder, "/project", { waitMs: 600_000, signal })).toBeUndefined();
  });
});

describe("backed-up files", () => {
  test("backed-up files are restored with their bytes and mode, and new files are deleted", () => {
    const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d, 0x0d, 0x0a, 0xff]);
    const folder = makeTree({ "package.json": bytes, "same.json": "{}" });
    const path = (name: string) => join(folder, name);
    chmodSync(path("package.json"), 0o662);
    const { ino } = statSync(path("same.json"));
    const saved = saveFiles([path("package.json"), path("yarn.lock"), path("same.json")]);
    writeFileSync(path("package.json"), "{}");
    writeFileSync(path("yarn.lock"), "new");
    expect(saved.restore()).toBe(true);
    saved.discard();
    expect(readFileSync(path("package.json")).equals(bytes)).toBe(true);
    expect(statSync(path("package.json")).mode & 0o777).toBe(0o662);
    expect(statSync(path("same.json")).ino).toBe(ino);
    expect(readdirSync(folder).sort()).toEqual(["package.json", "same.json"]);
  });

  test("backed-up links are restored as links", () => {
    const folder = makeTree({ "real.json": "before" });
    symlinkSync("real.json", join(folder, "package.json"));
    const saved = saveFiles([join(folder, "package.json")]);
    writeFileSync(join(folder, "package.json"), "after");
    saved.restore();
    saved.discard();
    expect(readdirSync(folder).sort()).toEqual(["package.json", "real.json"]);
    expect(lstatSync(join(folder, "package.json")).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, "real.json"), "utf8")).toBe("before");
  });

  test("backing up a file that cannot be read fails", () => {
    const folder = makeTree({ "package.json/x": "" });
    expect(() => saveFiles([join(folder, "package.json")])).toThrow();
  });
});
