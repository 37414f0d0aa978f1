import { chmodSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type ChangeOptions, changePackages } from "../../src/npm/managers/change-packages.ts";
import { makeTree } from "../support/packs.ts";

describe("a failed change", () => {
  /** Adds a package with a manager that runs a script when it adds something, and then fails. */
  const fail = (directory: string, script: string, options: ChangeOptions = {}) =>
    changePackages(
      {
        directory,
        root: directory,
        isWorkspaceRoot: false,
        manager: { name: "npm", isModernYarn: false },
        program: {
          command: process.execPath,
          args: ["--eval", `if (process.argv.includes("x")) { ${script}; process.exit(1); }`, "--"],
        },
      },
      { kind: "add", packages: ["x"] },
      options,
      { verify: async () => {} },
    );

  test("package.json and lockfiles get their bytes and modes back, new ones are deleted, and links stay", async () => {
    const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d, 0x0d, 0x0a, 0xff]);
    const folder = makeTree({ "package.json": bytes, "real.json": "before", "pnpm-lock.yaml": "same" });
    const path = (name: string) => join(folder, name);
    chmodSync(path("package.json"), 0o662);
    symlinkSync("real.json", path("package-lock.json"));
    const { ino } = statSync(path("pnpm-lock.yaml"));
    const script = `for (const name of ["package.json", "package-lock.json", "yarn.lock"])
      require("node:fs").writeFileSync(name, "changed")`;
    await expect(fail(folder, script)).rejects.toMatchObject({
      code: "InstallFailed",
      problem: { args: { what: "add x", reason: "npm exited with code 1", restored: true } },
    });
    expect(readFileSync(path("package.json")).equals(bytes)).toBe(true);
    expect(statSync(path("package.json")).mode & 0o777).toBe(0o662);
    expect(statSync(path("pnpm-lock.yaml")).ino).toBe(ino);
    expect(lstatSync(path("package-lock.json")).isSymbolicLink()).toBe(true);
    expect(readFileSync(path("real.json"), "utf8")).toBe("before");
    expect(readdirSync(folder)).not.toContain("yarn.lock");
  });

  test("a lockfile that cannot be kept for that is told before the package manager runs", async () => {
    const folder = makeTree({ "package.json": "{}", "yarn.lock/file": "" });
    const script = `require("node:fs").writeFileSync("package.json", "changed")`;
    await expect(fail(folder, script)).rejects.toMatchObject({
      code: "InstallFailed",
      problem: { args: { reason: expect.stringContaining("it is a folder") } },
    });
    expect(readFileSync(join(folder, "package.json"), "utf8")).toBe("{}");
  });

  test("a project has one change at a time, and who waits for another does so for a limited time", async () => {
    const folder = makeTree({ "package.json": "{}" });
    const first = fail(folder, "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000)");
    await expect(fail(folder, "", { lockMs: 600 })).rejects.toMatchObject({
      problem: {
        args: { reason: expect.stringContaining("another process") },
        hint: expect.stringContaining(join(folder, "package.json.lock")),
      },
    });
    const signal = AbortSignal.abort();
    await expect(fail(folder, "", { signal })).rejects.toMatchObject({ code: "InstallFailed" });
    await expect(first).rejects.toMatchObject({ problem: { args: { restored: true } } });
    expect(readdirSync(folder)).toEqual(["package.json"]);
  });
});
