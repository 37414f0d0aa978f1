import { chmodSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { changePackages, lockProject } from "../../src/npm/managers/change-packages.ts";
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

describe("a failed change", () => {
  /** Adds a package with a manager that runs a script when it adds something, and then fails. */
  const fail = (directory: string, script: string) =>
    changePackages(
      {
        directory,
        workspaceRoot: undefined,
        manager: { name: "npm", isModernYarn: false },
        program: {
          command: process.execPath,
          args: ["--eval", `if (process.argv.includes("x")) { ${script}; process.exit(1); }`, "--"],
        },
      },
      { kind: "add", packages: ["x"] },
      {},
      async () => undefined,
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

  test("a file that cannot be restored is named as such", async () => {
    const folder = makeTree({ "package.json": "{}" });
    const script = `const { mkdirSync, rmSync } = require("node:fs"); rmSync("package.json"); mkdirSync("package.json")`;
    const error = { code: "InstallFailed", problem: { args: { restored: "nothing" } } };
    await expect(fail(folder, script)).rejects.toMatchObject(error);
  });

  test("nothing is changed if package.json cannot be read", async () => {
    const folder = makeTree({ "package.json/x": "" });
    const change = fail(folder, 'require("node:fs").writeFileSync("run", "")');
    await expect(change).rejects.toMatchObject({ code: "InstallFailed" });
    expect(readdirSync(folder)).toEqual(["package.json"]);
  });
});
