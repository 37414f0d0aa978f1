import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { lockFile } from "../../src/files/file-lock.ts";
import type { InstallPlan } from "../../src/install/plan.ts";
import { changePackages } from "../../src/npm/managers/change-packages.ts";
import { saveFiles } from "../../src/npm/managers/project-files.ts";
import { createResponseCache } from "../../src/npm/registry/response-cache.ts";
import { makeTree } from "../support/packs.ts";
import { inRepository } from "../support/repository.ts";
import { runProcess } from "../support/run-process.ts";
import { canMountDisks, fillDisk, mountSmallDisk } from "../support/small-disk.ts";
import { makeInstallPlace } from "./install-place.ts";

const read = (file: string) => readFileSync(file, "utf8");
const full = {
  code: "ClientConfigUnwritable",
  problem: { args: { reason: expect.stringContaining("space") } },
};
/** More than a page, so that it cannot be written without any space. */
const config = `{\n  "mcpServers": {},\n  "rest": "${"x".repeat(9000)}"\n}\n`;

// Only these tests need to mount a disk. The limit on the size of files, below, works for every user.
describe.skipIf(!canMountDisks)("a full disk", () => {
  function makePlace() {
    const place = makeInstallPlace({});
    const disk = join(place.root, "disk");
    mountSmallDisk(disk, 96);
    const file = join(disk, "mcp.json");
    const state = () => readdirSync(disk).filter((name) => name !== "filler");
    return { ...place, disk, file, state };
  }

  test("on a full disk, install and uninstall leave a config unchanged and no files next to it", async () => {
    const { install, uninstall, disk, file, state, stateFolder } = makePlace();
    writeFileSync(file, config);
    fillDisk(disk);
    await expect(install("cursor", "mine", { file })).rejects.toMatchObject(full);
    expect(read(file)).toBe(config);
    expect(state()).toEqual(["mcp.json"]);
    expect(readdirSync(join(stateFolder, "backups"))).toEqual([]);

    rmSync(join(disk, "filler"));
    await install("cursor", "mine", { file });
    const installed = read(file);
    fillDisk(disk);
    await expect(uninstall("cursor", "mine", { file })).rejects.toMatchObject(full);
    expect(read(file)).toBe(installed);
    expect(state()).toEqual(["mcp.json"]);
    rmSync(join(disk, "filler"));
    await uninstall("cursor", "mine", { file });
    expect(read(file)).toBe(config);
  });

  test("on a full disk, install creates neither a config nor its folder", async () => {
    const { install, disk, state } = makePlace();
    fillDisk(disk);
    const file = join(disk, "a/b/mcp.json");
    await expect(install("cursor", "mine", { file })).rejects.toMatchObject(full);
    expect(state()).toEqual([]);
  });

  test.each([0, 4096, 8192, 12_288])(
    "the config and the ledger stay unchanged if the disk is full except for %i bytes",
    async (spare) => {
      const { install, uninstall, disk, root, environment } = makePlace();
      environment.XDG_STATE_HOME = disk;
      const stateFolder = join(disk, "trailblaze");
      const file = join(root, "mcp.json");
      writeFileSync(file, config);
      await install("cursor", "mine", { file, name: "first" });
      const [notes, installed] = [join(stateFolder, "installs.json"), read(file)];
      const before = read(notes);
      fillDisk(disk, spare);
      const act = [
        () => install("cursor", "mine", { file, name: "second", env: [`A=${"x".repeat(9000)}`] }),
        () => uninstall("cursor", "mine", { file, name: "first" }),
      ];
      for (const change of act) {
        await expect(change()).rejects.toMatchObject(full);
        expect(read(file)).toBe(installed);
        expect(read(notes)).toBe(before);
        expect(readdirSync(root).filter((name) => name.includes("mcp.json"))).toEqual(["mcp.json"]);
        expect(readdirSync(stateFolder).filter((name) => /trailblaze-|lock$/.test(name))).toEqual([]);
      }
      rmSync(join(disk, "filler"));
      await uninstall("cursor", "mine", { file, name: "first" });
      expect(read(file)).toBe(config);
    },
  );

  test("a file can be locked although the full disk has no space for the lock's holder", async () => {
    const { disk, root } = makePlace();
    fillDisk(disk);
    const held = await lockFile(join(root, "mcp.json"), { holders: disk });
    expect(held.isHeld()).toBe(true);
    held.release();
    expect(readdirSync(disk)).toEqual(["filler"]);
  });

  test("on a full disk, the cache keeps its old responses and stores no part of a new one", () => {
    const { disk } = makePlace();
    const cache = createResponseCache(disk);
    const answer = { address: "http://127.0.0.1/x", etag: undefined, text: "1" };
    cache.write(answer);
    const kept = readdirSync(disk);
    fillDisk(disk);
    cache.write({ ...answer, text: "2".repeat(9000) });
    expect(cache.read(answer.address)).toEqual(answer);
    expect(readdirSync(disk).sort()).toEqual([...kept, "filler"].sort());
  });

  describe("a project on a full disk", () => {
    const manifest = `${JSON.stringify({ name: "app", notes: "x".repeat(9000) }, null, 2)}\n`;
    const files = ["package-lock.json", "package.json"];

    function makeProject() {
      const { disk, root, state } = makePlace();
      for (const name of files) writeFileSync(join(disk, name), manifest);
      const runs = join(root, "runs");
      /** A package manager that cuts the project's files off, fills the disk and fails. */
      const script = `
        const { appendFileSync, writeFileSync } = require("node:fs");
        appendFileSync(${JSON.stringify(runs)}, "x");
        for (const name of ${JSON.stringify(files)}) writeFileSync(name, "");
        try { for (;;) appendFileSync("filler", "x".repeat(512)); } catch {}
        process.exit(1);`;
      const project = {
        directory: disk,
        workspaceRoot: undefined,
        manager: { name: "npm", isModernYarn: false },
        program: { command: process.execPath, args: ["--eval", script] },
      } as const;
      const add = () =>
        changePackages(
          project,
          { kind: "add", names: ["@acme/jira"], packages: ["@acme/jira"] },
          {},
          async () => undefined,
        );
      const contents = () => files.map((name) => read(join(disk, name)));
      return { disk, state, add, contents, runs };
    }

    test("a project is not changed if its files cannot be backed up", async () => {
      const { disk, state, add, contents, runs } = makeProject();
      fillDisk(disk);
      await expect(add()).rejects.toMatchObject({
        code: "InstallFailed",
        problem: { args: expect.not.objectContaining({ restored: expect.anything() }) },
      });
      expect(existsSync(runs)).toBe(false);
      expect(contents()).toEqual([manifest, manifest]);
      expect(state().sort()).toEqual(files);
    });

    test("the files of a project are restored after the package manager truncated them", async () => {
      const { state, add, contents, runs } = makeProject();
      await expect(add()).rejects.toMatchObject({ code: "InstallFailed" });
      expect(readFileSync(runs, "utf8")).toBe("x");
      expect(contents()).toEqual([manifest, manifest]);
      expect(state().sort()).toEqual(files);
    });

    test("the target of a link is restored on a full disk", () => {
      const { disk } = makePlace();
      const root = makeTree({});
      writeFileSync(join(disk, "real.json"), manifest);
      symlinkSync(join(disk, "real.json"), join(root, "package.json"));
      const saved = saveFiles([join(root, "package.json")]);
      writeFileSync(join(disk, "real.json"), "");
      fillDisk(disk);
      expect(saved.restore()).toBe(false);
      expect(saved.copies).toEqual([]);
      expect(read(join(root, "package.json"))).toBe(manifest);
      expect(readdirSync(disk).sort()).toEqual(["filler", "real.json"]);
    });
  });
});

// Windows has no such limit.
describe.skipIf(process.platform === "win32")("a limit on file sizes", () => {
  const host = inRepository("test/install/install-host.ts");
  const large = `{\n  "mcpServers": {},\n  "rest": "${"x".repeat(3 << 20)}"\n}\n`;

  /** Runs `install-host.ts` with files limited to 1 MiB. */
  const runLimited = (root: string, plan: InstallPlan) => {
    const planFile = join(root, "plan.json");
    writeFileSync(planFile, JSON.stringify(plan));
    return runProcess(
      "bash",
      [
        "-c",
        'ulimit -f 1024; exec "$@"',
        "bash",
        process.execPath,
        "--import",
        import.meta.resolve("tsx"),
        host,
        planFile,
      ],
      { cwd: root, env: { ...process.env, TSX_DISABLE_CACHE: "1" }, timeoutMs: 110_000 },
    );
  };

  test("a config above the limit on file sizes stays unchanged", async () => {
    const place = makeInstallPlace({ "home/.cursor/mcp.json": large });
    const { root, home, stateFolder } = place;
    const [folder, file] = [join(home, ".cursor"), join(home, ".cursor/mcp.json")];
    const { exitCode, stderr } = await runLimited(root, await place.planInstall("cursor", "mine"));
    expect(stderr).toContain("ClientConfigUnwritable");
    expect(exitCode).toBe(1);
    expect(read(file)).toBe(large);
    expect(readdirSync(folder)).toEqual(["mcp.json"]);
    expect(readdirSync(join(stateFolder, "backups"))).toEqual([]);

    await place.install("cursor", "mine");
    const installed = read(file);
    const { stderr: second } = await runLimited(root, await place.planUninstall("cursor", "mine"));
    expect(second).toContain("limit on file sizes");
    expect(read(file)).toBe(installed);
    expect(readdirSync(folder)).toEqual(["mcp.json"]);
  });
});
