import { chmodSync, chownSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { readPolicyFile } from "../../src/files/policy-file.ts";
import { findPolicyLocation } from "../../src/files/policy-location.ts";
import { makeTree } from "../support/packs.ts";
import { makeFifo } from "../support/special-files.ts";

const isWindows = process.platform === "win32";
const owner = process.getuid?.() ?? 0;

/** A policy in a folder of its own, as an administrator makes them. */
function makePolicy(content = "{}"): string {
  const file = join(makeTree({}), "trailblaze", "policy.json");
  mkdirSync(dirname(file), { mode: 0o755 });
  writeFileSync(file, content);
  chmodSync(file, 0o644);
  return file;
}

const read = (file: string) => readPolicyFile({ file, owner });
const unsafe = (file: string, reason: RegExp) => ({
  state: "unsafe",
  file,
  reason: expect.stringMatching(reason),
});

describe("the place of the policy", () => {
  test("each platform has one fixed place, whatever the environment says", () => {
    process.env.ProgramFiles = "D:\\Elsewhere";
    expect(findPolicyLocation("linux")).toEqual({ file: "/etc/trailblaze/policy.json", owner: 0 });
    expect(findPolicyLocation("freebsd").file).toBe("/etc/trailblaze/policy.json");
    expect(findPolicyLocation("darwin").file).toBe("/Library/Application Support/Trailblaze/policy.json");
    expect(findPolicyLocation("win32").file).toBe("C:\\Program Files\\Trailblaze\\policy.json");
  });
});

describe("reading the policy file", () => {
  test("a policy that only its owner can write is read", () => {
    const file = makePolicy('{"install":false}');
    expect(read(file)).toEqual({ state: "read", file, bytes: Buffer.from('{"install":false}') });
  });

  test("without a folder or without a file, there is no policy", () => {
    const folder = makeTree({});
    expect(read(join(folder, "absent", "policy.json"))).toEqual({ state: "absent" });
    expect(read(join(folder, "policy.json"))).toEqual({ state: "absent" });
  });

  test("a policy above 1 MiB is refused without reading it", () => {
    const file = makePolicy();
    truncateSync(file, 100 << 20);
    const before = process.memoryUsage.rss();
    expect(read(file)).toMatchObject({
      state: "unreadable",
      reason: expect.stringMatching(/104857600 bytes/),
    });
    expect(process.memoryUsage.rss() - before).toBeLessThan(64 << 20);
  });

  describe.skipIf(isWindows)("what someone else may have written", () => {
    test.each([
      ["to a policy", "policy.json"],
      ["to nothing", "absent.json"],
    ])("a link %s is unsafe", (_, target) => {
      const file = makePolicy();
      const link = join(dirname(file), "link.json");
      symlinkSync(target, link);
      expect(read(link)).toEqual(unsafe(link, /^it is a symbolic link/));
    });

    test.each(["trailblaze", "absent"])("a folder that is a link to %s is unsafe", (target) => {
      const root = dirname(dirname(makePolicy()));
      symlinkSync(target, join(root, "link"));
      const file = join(root, "link", "policy.json");
      expect(read(file)).toEqual(unsafe(file, /^its folder is a symbolic link/));
    });

    test("a folder or a named pipe in its place is unsafe, and a pipe does not block", () => {
      const folder = makeTree({ "policy.json/a.txt": "" });
      expect(read(join(folder, "policy.json"))).toMatchObject({
        state: "unsafe",
        reason: "it is a folder, not a regular file",
      });
      const pipe = join(makeTree({}), "policy.json");
      makeFifo(pipe);
      expect(read(pipe)).toMatchObject({
        state: "unsafe",
        reason: "it is a named pipe, not a regular file",
      });
    });

    test("a file in place of its folder is unsafe", () => {
      const root = makeTree({ trailblaze: "" });
      const file = join(root, "trailblaze", "policy.json");
      expect(read(file)).toEqual(unsafe(file, /^its folder is not a folder/));
    });

    test.each([0o664, 0o646, 0o666])("a policy with the mode %o is unsafe", (mode) => {
      const file = makePolicy();
      chmodSync(file, mode);
      expect(read(file)).toEqual(unsafe(file, /^it is writable by its group or by everyone$/));
    });

    test.each([0o775, 0o757, 0o1777])("a policy in a folder with the mode %o is unsafe", (mode) => {
      const file = makePolicy();
      chmodSync(dirname(file), mode);
      expect(read(file)).toEqual(unsafe(file, /^its folder is writable by its group or by everyone$/));
    });

    test("a policy of another user is unsafe, and so is one in another user's folder", () => {
      const file = makePolicy();
      expect(readPolicyFile({ file, owner: owner + 1 })).toEqual(
        unsafe(file, /^its folder does not belong to root$/),
      );
    });

    test.skipIf(owner !== 0)("a policy of another user in root's folder is unsafe", () => {
      const file = makePolicy();
      chownSync(file, 65_534, 0);
      expect(read(file)).toEqual(unsafe(file, /^it does not belong to root$/));
    });

    test("a policy that the user may not read is unreadable", () => {
      const file = makePolicy();
      chmodSync(file, 0);
      chmodSync(dirname(dirname(file)), 0o755);
      // Root may read everything.
      if (owner === 0) process.seteuid?.(65_534);
      try {
        expect(read(file)).toEqual({ state: "unreadable", file, reason: "it cannot be read (EACCES)" });
      } finally {
        if (owner === 0) process.seteuid?.(0);
      }
    });
  });
});
