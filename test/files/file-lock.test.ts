import { mkdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { lockFile } from "../../src/files/file-lock.ts";
import { BusyFileError } from "../../src/files/write-files.ts";
import { makeTree } from "../support/packs.ts";

function makePlace() {
  const root = makeTree({ "mcp.json": "{}" });
  const file = join(root, "mcp.json");
  const lock = async (options: Parameters<typeof lockFile>[1] = {}): Promise<() => void> => {
    const release = await lockFile(file, { waitMs: 60_000, ...options });
    onTestFinished(release);
    return release;
  };
  return { folder: `${file}.lock`, lock };
}

const makeStale = (folder: string) => utimesSync(folder, new Date(0), new Date(0));

describe("the lock of a file", () => {
  test("exactly one of many waiting processes takes an abandoned lock", async () => {
    const { folder, lock } = makePlace();
    mkdirSync(folder);
    makeStale(folder);
    let inside = 0;
    await Promise.all(
      Array.from({ length: 12 }, async () => {
        const release = await lock();
        expect(++inside).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 5));
        inside--;
        release();
      }),
    );
  });

  test("a lock is kept until it is stale", async () => {
    const { folder, lock } = makePlace();
    mkdirSync(folder);
    await expect(lock({ waitMs: 100 })).rejects.toThrow(BusyFileError);
    makeStale(folder);
    await expect(lock()).resolves.toBeTypeOf("function");
  });

  test("a lock that another program has taken is not released", async () => {
    const { folder, lock } = makePlace();
    const release = await lock();
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    release();
    expect(statSync(folder).isDirectory()).toBe(true);
  });
});
