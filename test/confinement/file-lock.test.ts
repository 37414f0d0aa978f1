import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type FileLock, LockHeldError, type LockOptions, lockFile } from "../../src/files/file-lock.ts";
import { identifyProcess } from "../../src/files/process-identity.ts";
import { makeTree } from "../support/packs.ts";
import { inRepository } from "../support/repository.ts";

/** Limits that a test does not come to. */
const patient = { waitMs: 60_000, graceMs: 60_000, staleMs: 60_000 };

function makePlace() {
  const root = makeTree({ "mcp.json": "{}" });
  const file = join(root, "mcp.json");
  const holders = join(root, "state/locks");
  const lock = async (options: LockOptions = {}): Promise<FileLock> => {
    const taken = await lockFile(file, { holders, ...patient, ...options });
    onTestFinished(() => taken.release());
    return taken;
  };
  return { root, file, holders, folder: `${file}.lock`, lock };
}

/** Takes the lock in a process of its own, which is killed while it has it. */
function lockAndDie(file: string, holders: string): void {
  const script = `
    import { lockFile } from ${JSON.stringify(inRepository("src/files/file-lock.ts"))};
    await lockFile(${JSON.stringify(file)}, ${JSON.stringify({ holders })});
    process.kill(process.pid, "SIGKILL");`;
  const args = ["--import", import.meta.resolve("tsx"), "--input-type=module", "--eval", script];
  const { signal } = spawnSync(process.execPath, args, { stdio: "inherit" });
  expect(signal).toBe("SIGKILL");
}

describe("the lock of a file", () => {
  test("a lock is an empty folder for other programs, and is removed completely", async () => {
    const { folder, holders, lock } = makePlace();
    const held = await lock();
    expect(held.isHeld()).toBe(true);
    expect(readdirSync(folder)).toEqual([]);
    held.release();
    expect(statSync(folder, { throwIfNoEntry: false })).toBeUndefined();
    expect(readdirSync(holders)).toEqual([]);
  });

  test("the lock of a killed process is removed immediately", async () => {
    const { file, holders, lock } = makePlace();
    lockAndDie(file, holders);
    const held = await lock();
    expect([held.isOwn, held.isHeld()]).toEqual([true, true]);
    held.release();
    expect(readdirSync(holders)).toEqual([]);
  });

  test("exactly one of many waiting processes takes an abandoned lock", async () => {
    const { file, holders, lock } = makePlace();
    lockAndDie(file, holders);
    let inside = 0;
    await Promise.all(
      Array.from({ length: 12 }, async () => {
        const held = await lock();
        expect(++inside).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 5));
        expect(held.isHeld()).toBe(true);
        inside--;
        held.release();
      }),
    );
  });

  test("a lock is abandoned if its process number now belongs to another process", async () => {
    if (process.platform !== "linux") return;
    const { holders, lock } = makePlace();
    await lock();
    const [name = ""] = readdirSync(holders);
    writeFileSync(join(holders, name), JSON.stringify({ ...identifyProcess(), started: "1" }));
    expect((await lock()).isOwn).toBe(true);
  });

  test("the lock of a process on another machine is not treated as abandoned", async () => {
    const { holders, lock } = makePlace();
    await lock();
    const [name = ""] = readdirSync(holders);
    writeFileSync(join(holders, name), JSON.stringify({ pid: 1, host: "elsewhere" }));
    await expect(lock({ waitMs: 100 })).rejects.toThrow("another program holds the lock");
  });

  test("the lock of a running process is kept however long it takes, and the error names its owner", async () => {
    const { folder, lock } = makePlace();
    await lock();
    const waits: string[] = [];
    const impatient = lock({ waitMs: 500, graceMs: 0, staleMs: 0, onWait: (what) => waits.push(what) });
    await expect(impatient).rejects.toThrow(LockHeldError);
    expect(waits).toEqual([`process ${process.pid}, which holds the lock ${folder}`]);
  });

  test("the lock of an unknown program is kept while its modification time changes", async () => {
    const { folder, lock } = makePlace();
    mkdirSync(folder);
    const refresh = setInterval(() => utimesSync(folder, new Date(), new Date()), 20);
    try {
      await expect(lock({ waitMs: 600, graceMs: 300 })).rejects.toThrow(LockHeldError);
    } finally {
      clearInterval(refresh);
    }
    expect(await lock({ graceMs: 50 })).toMatchObject({ isOwn: false });
    expect(statSync(folder).isDirectory()).toBe(true);
  });

  test("a held lock is refreshed for programs that look only at its modification time", async () => {
    const { folder, lock } = makePlace();
    const held = await lock();
    const before = statSync(folder).mtimeMs;
    await expect.poll(() => statSync(folder).mtimeMs).toBeGreaterThan(before + 1000);
    expect(held.isHeld()).toBe(true);
    await expect(lock({ waitMs: 50, graceMs: 0, staleMs: 0 })).rejects.toThrow(
      `process ${process.pid} holds`,
    );
  });

  test("a lock that another program takes is reported as lost", async () => {
    const { folder, lock } = makePlace();
    const held = await lock();
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    expect(held.isHeld()).toBe(false);
    held.release();
    expect(statSync(folder).isDirectory()).toBe(true);
  });

  test("locking works without a folder for notes", async () => {
    const { root, lock } = makePlace();
    writeFileSync(join(root, "state"), "no folder");
    const held = await lock();
    expect(held.isHeld()).toBe(true);
    expect(readFileSync(join(root, "state"), "utf8")).toBe("no folder");
  });
});

test("a process that its parent has not collected counts as ended", async () => {
  if (process.platform !== "linux") return;
  const { isSameProcessRunning } = await import("../../src/files/process-identity.ts");
  // A shell that starts a process and then becomes one that never collects it.
  const parent = spawn("/bin/sh", ["-c", "sleep 0 & echo $!; exec sleep 20"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void parent.kill("SIGKILL"));
  const text = await new Promise<string>((resolve) =>
    parent.stdout.once("data", (bytes) => resolve(String(bytes))),
  );
  const identity = { ...identifyProcess(), pid: Number(text), started: undefined };
  await expect.poll(() => isSameProcessRunning(identity)).toBe(false);
  expect(isSameProcessRunning(identifyProcess())).toBe(true);
});
