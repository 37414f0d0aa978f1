import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ApplySettings } from "../../src/install/apply-plan.ts";
import type { InstallPlan } from "../../src/install/plan.ts";
import { inRepository } from "../support/repository.ts";
import { runProcess } from "../support/run-process.ts";
import { makeInstallPlace } from "./install-place.ts";

const read = (file: string) => readFileSync(file, "utf8");

const hostArguments = ["--import", import.meta.resolve("tsx"), inRepository("test/install/install-host.ts")];

/** Writes a plan for `install-host.ts`. */
function savePlan(root: string, plan: InstallPlan): string {
  const file = join(root, `${plan.edit.action}-${plan.key}.json`);
  writeFileSync(file, JSON.stringify(plan));
  return file;
}

/** Applies a plan by `install-host.ts`. */
function runHost(root: string, plan: InstallPlan, ...args: string[]) {
  return runProcess(process.execPath, [...hostArguments, savePlan(root, plan), ...args], {
    cwd: root,
    env: process.env,
    timeoutMs: 120_000,
  });
}

const original = '{\n  // servers\n  "mcpServers": { "theirs": {} }\n}\n';

function makePlace(settings: ApplySettings = {}) {
  const place = makeInstallPlace({ "home/.cursor/mcp.json": original }, settings);
  const folder = join(place.home, ".cursor");
  return { ...place, folder, file: join(folder, "mcp.json") };
}

describe("writing a file", () => {
  test.each([0o600, 0o640, 0o644, 0o664])("install and uninstall keep the file's mode %o", async (mode) => {
    const { file, install, uninstall } = makePlace();
    chmodSync(file, mode);
    await install("cursor", "mine");
    expect(statSync(file).mode & 0o777).toBe(mode);
    await uninstall("cursor", "mine");
    expect(statSync(file).mode & 0o777).toBe(mode);
    expect(read(file)).toBe(original);
  });

  test("a new config is readable only by its user, and no other files are left next to it", async () => {
    const place = makeInstallPlace();
    const { file } = await place.install("kiro", "mine");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(place.home, ".kiro/settings"))).toEqual(["mcp.json"]);
    expect(statSync(join(place.stateFolder, "installs.json")).mode & 0o777).toBe(0o600);
  });

  test("install writes through symbolic links, even to a missing target, and keeps the links", async () => {
    const place = makePlace();
    const { folder, file } = place;
    mkdirSync(join(place.root, "dotfiles"));
    writeFileSync(join(place.root, "dotfiles/real.json"), original);
    rmSync(file);
    symlinkSync("../../dotfiles/link.json", file);
    symlinkSync("real.json", join(place.root, "dotfiles/link.json"));
    const result = await place.install("cursor", "mine");
    expect(result.file).toBe(file);
    expect(readlinkSync(file)).toBe("../../dotfiles/link.json");
    expect(read(join(place.root, "dotfiles/real.json"))).toContain('"mine"');
    await place.uninstall("cursor", "mine");
    expect(read(join(place.root, "dotfiles/real.json"))).toBe(original);
    rmSync(join(place.root, "dotfiles/real.json"));
    await place.install("cursor", "mine");
    expect(readdirSync(join(place.root, "dotfiles")).sort()).toEqual(["link.json", "real.json"]);
    await place.uninstall("cursor", "mine");
    expect(readdirSync(join(place.root, "dotfiles"))).toEqual(["link.json"]);
    expect(readdirSync(folder)).toEqual(["mcp.json"]);
  });

  test("install rejects circular links and paths through a file", async () => {
    const place = makePlace();
    rmSync(place.file);
    symlinkSync("b.json", place.file);
    symlinkSync("mcp.json", join(place.folder, "b.json"));
    const refusal = { code: "ClientConfigUnwritable" };
    await expect(place.install("cursor", "mine")).rejects.toMatchObject(refusal);
    const file = join(place.project, "package.json/x.json");
    await expect(place.install("cursor", "mine", { file })).rejects.toMatchObject(refusal);
  });

  test("install keeps the last ten backups of a config", async () => {
    const place = makePlace();
    const { backup } = await place.install("cursor", "mine");
    expect(read(backup ?? "")).toBe(original);
    expect(statSync(backup ?? "").mode & 0o777).toBe(0o600);
    for (let round = 0; round < 8; round++) {
      await place.uninstall("cursor", "mine");
      await place.install("cursor", "mine");
    }
    expect(readdirSync(join(place.stateFolder, "backups"))).toHaveLength(10);
  });

  test.each(["backedUp", "drafted"] as const)(
    "an install that fails when the config is %s leaves it unchanged",
    async (step) => {
      const place = makePlace();
      const error = Object.assign(new Error("full"), { code: "ENOSPC", syscall: "write" });
      place.settings.onStep = (reached, file) => {
        if (reached === step && file === place.file) throw error;
      };
      await expect(place.install("cursor", "mine")).rejects.toMatchObject({
        code: "ClientConfigUnwritable",
        problem: { args: { file: place.file, reason: expect.stringContaining("space") } },
      });
      expect(read(place.file)).toBe(original);
      expect(readdirSync(place.folder)).toEqual(["mcp.json"]);
      delete place.settings.onStep;
      await place.install("cursor", "mine");
      await place.uninstall("cursor", "mine");
      expect(read(place.file)).toBe(original);
    },
  );

  test("an install that cannot create the file fails with the file's name", async () => {
    const file = "/proc/self/trailblaze-test.json";
    if (!existsSync("/proc/self")) return;
    const { install } = makeInstallPlace();
    await expect(install("cursor", "mine", { file })).rejects.toMatchObject({
      code: "ClientConfigUnwritable",
      problem: { args: { file: expect.stringContaining("trailblaze-test.json") } },
    });
  });

  test.each([
    ["folder", 0o500],
    ["file", 0o400],
  ] as const)("an install rejects a read-only %s and leaves the config unchanged", async (which, mode) => {
    const place = makePlace();
    chmodSync(place[which], mode);
    try {
      // The superuser can write read-only files, so it runs the install as another user if the system has setpriv.
      const isSuperuser = process.getuid?.() === 0;
      if (isSuperuser && !existsSync("/usr/bin/setpriv")) return;
      if (!isSuperuser) {
        const code = "ClientConfigUnwritable";
        await expect(place.install("cursor", "mine")).rejects.toMatchObject({ code });
      } else {
        const planFile = savePlan(place.root, await place.planInstall("cursor", "mine"));
        chownSync(place.root, 65_534, 65_534);
        for (const path of readdirSync(place.root, { recursive: true, encoding: "utf8" }))
          chownSync(join(place.root, path), 65_534, 65_534);
        const asNobody = [
          "--reuid=65534",
          "--regid=65534",
          "--clear-groups",
          process.execPath,
          ...hostArguments,
        ];
        const { exitCode, stderr } = await runProcess("/usr/bin/setpriv", [...asNobody, planFile], {
          cwd: "/",
          env: { ...process.env, TMPDIR: "/nonexistent", TSX_DISABLE_CACHE: "1" },
          timeoutMs: 110_000,
        });
        expect(stderr).toContain("ClientConfigUnwritable");
        expect(stderr).toContain("permission denied");
        expect(exitCode).toBe(1);
      }
      expect(read(place.file)).toBe(original);
      expect(readdirSync(place.folder)).toEqual(["mcp.json"]);
    } finally {
      chmodSync(place.folder, 0o700);
    }
  });
});

describe("the lock of a config", () => {
  test("an install waits for another program's lock and fails if the lock stays", async () => {
    const place = makePlace({ waitMs: 150 });
    mkdirSync(`${place.file}.lock`);
    await expect(place.install("cursor", "mine")).rejects.toMatchObject({
      code: "ClientConfigUnwritable",
      problem: { args: { reason: expect.stringContaining("mcp.json.lock") } },
    });
    expect(read(place.file)).toBe(original);
    place.settings.waitMs = 30_000;
    const waiting = place.install("cursor", "mine");
    // The other program's own delay.
    setTimeout(() => rmSync(`${place.file}.lock`, { recursive: true }), 100);
    expect(await waiting).toMatchObject({ changed: true });
    expect(readdirSync(place.folder)).toEqual(["mcp.json"]);
  });

  test("a config is not locked if there is nothing to change", async () => {
    const place = makePlace({ waitMs: 0 });
    const lock = `${place.file}.lock`;
    mkdirSync(lock);
    expect(await place.uninstall("cursor", "mine")).toMatchObject({ changed: false });
    rmdirSync(lock);
    await place.install("cursor", "mine");
    mkdirSync(lock);
    expect(await place.install("cursor", "mine")).toMatchObject({ changed: false });
    await expect(place.uninstall("cursor", "mine")).rejects.toMatchObject({ code: "ClientConfigUnwritable" });
  });

  test("an install removes a lock that is no longer refreshed", async () => {
    const place = makePlace({ waitMs: 30_000 });
    mkdirSync(`${place.file}.lock`);
    const longAgo = new Date(Date.now() - 60_000);
    utimesSync(`${place.file}.lock`, longAgo, longAgo);
    expect(await place.install("cursor", "mine")).toMatchObject({ changed: true });
    expect(readdirSync(place.folder)).toEqual(["mcp.json"]);
  });

  test("an install never removes a lock that is a non-empty folder", async () => {
    const place = makePlace({ waitMs: 150, staleMs: 0 });
    mkdirSync(`${place.file}.lock`);
    writeFileSync(`${place.file}.lock/mine`, "");
    await expect(place.install("cursor", "mine")).rejects.toMatchObject({ code: "ClientConfigUnwritable" });
    expect(existsSync(`${place.file}.lock/mine`)).toBe(true);
  });

  test("an install that loses its lock starts again with the current content", async () => {
    const place = makePlace({ waitMs: 30_000 });
    let losses = 0;
    place.settings.onStep = (step, file) => {
      if (step !== "drafted" || file !== place.file || losses++ > 0) return;
      // As if this process had slept while another one edited the file.
      rmSync(`${file}.lock`, { recursive: true });
      writeFileSync(file, original.replace("theirs", "changed"));
    };
    expect(await place.install("cursor", "mine")).toMatchObject({ changed: true });
    expect(losses).toBe(2);
    expect(read(place.file)).toContain('"changed"');
  });
});

test("eight processes that install at once lose no entry", { timeout: 240_000 }, async () => {
  const place = makePlace();
  const { root, file, folder, stateFolder } = place;
  const names = Array.from({ length: 8 }, (_, index) => `server-${index}`);
  await Promise.all(
    names.map(async (name) => {
      const plan = await place.planInstall("cursor", "mine", { name });
      const { exitCode, stderr } = await runHost(root, plan);
      expect(exitCode, stderr).toBe(0);
    }),
  );
  const text = read(file);
  const { mcpServers } = JSON.parse(text.replace("// servers", ""));
  expect(Object.keys(mcpServers).sort()).toEqual(["theirs", ...names].sort());
  expect(readdirSync(folder)).toEqual(["mcp.json"]);
  const { entries } = JSON.parse(read(join(stateFolder, "installs.json")));
  expect(entries).toHaveLength(names.length);
});

describe("an install or uninstall that is killed", () => {
  const steps = [
    "locked@mcp.json",
    "locked@installs.json",
    "backedUp@mcp.json",
    "drafted@installs.json",
    "replaced@installs.json",
    "drafted@mcp.json",
    "replaced@mcp.json",
  ];

  test.each(steps)(
    "an install that is killed at the step %s leaves the old config or the new one, and can be repeated",
    async (step) => {
      const place = makePlace({ waitMs: 60_000, graceMs: 60_000 });
      const plan = await place.planInstall("cursor", "mine");
      await expect(runHost(place.root, plan, step)).rejects.toThrow(/SIGKILL/);
      const left = read(place.file);
      if (step !== "replaced@mcp.json") expect(left).toBe(original);
      else expect(left).toContain('"mine"');
      await place.install("cursor", "mine", { name: "another" });
      expect(readdirSync(place.folder)).toEqual(["mcp.json"]);
      await place.uninstall("cursor", "mine", { name: "another" });
      expect(read(place.file)).toBe(left);

      // A fresh attempt does what the killed one began, and can be undone.
      await place.install("cursor", "mine");
      await place.uninstall("cursor", "mine");
      expect(read(place.file)).toBe(original);
    },
  );

  test("an uninstall that was killed can be repeated", async () => {
    for (const step of ["drafted@mcp.json", "replaced@mcp.json", "drafted@installs.json"]) {
      const place = makePlace({ waitMs: 60_000, graceMs: 60_000 });
      await place.install("cursor", "mine");
      const installed = read(place.file);
      const plan = await place.planUninstall("cursor", "mine");
      await expect(runHost(place.root, plan, step)).rejects.toThrow(/SIGKILL/);
      expect([installed, original]).toContain(read(place.file));
      await place.uninstall("cursor", "mine");
      expect(read(place.file)).toBe(original);
      expect(JSON.parse(read(join(place.stateFolder, "installs.json"))).entries).toEqual([]);
    }
  });
});
