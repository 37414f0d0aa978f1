import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { editConfigFile } from "../../src/files/edit.ts";
import { lockFile } from "../../src/files/file-lock.ts";
import type { InstallPlan } from "../../src/install/plan-install.ts";
import { planConfigEdit } from "../../src/install/project-config.ts";
import { makeTree } from "../support/packs.ts";
import { inRepository } from "../support/repository.ts";
import { runProcess } from "../support/run-process.ts";
import { makeInstallPlace } from "./install-place.ts";

const read = (file: string) => readFileSync(file, "utf8");

const hostArguments = ["--import", import.meta.resolve("tsx"), inRepository("test/install/install-host.ts")];

/** Writes a plan for `install-host.ts`. */
function savePlan(root: string, plan: InstallPlan): string {
  const file = join(root, `${plan.entry === null ? "remove" : "add"}-${plan.key}.json`);
  writeFileSync(file, JSON.stringify(plan));
  return file;
}

const original = '{\n  // servers\n  "mcpServers": { "theirs": {} }\n}\n';

function makePlace() {
  const place = makeInstallPlace({ "home/.cursor/mcp.json": original });
  const folder = join(place.home, ".cursor");
  return { ...place, folder, file: join(folder, "mcp.json") };
}

describe("writing a file", () => {
  test.each([0o600, 0o664])("install and uninstall keep the file's mode %o", async (mode) => {
    const { file, install, uninstall } = makePlace();
    chmodSync(file, mode);
    await install("cursor", "mine");
    expect(statSync(file).mode & 0o777).toBe(mode);
    await uninstall("cursor", "mine");
    expect(statSync(file).mode & 0o777).toBe(mode);
    expect(read(file)).toBe(original);
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

  test("install keeps the last ten backups of a config", async () => {
    const place = makePlace();
    const { backup } = await place.install("cursor", "mine");
    expect(readdirSync(place.folder)).toEqual(["mcp.json"]);
    expect(read(backup ?? "")).toBe(original);
    expect(statSync(backup ?? "").mode & 0o777).toBe(0o600);
    for (let round = 0; round < 8; round++) {
      await place.uninstall("cursor", "mine");
      await place.install("cursor", "mine");
    }
    expect(readdirSync(join(place.stateFolder, "backups"))).toHaveLength(10);
  });
});

describe("the lock of a config", () => {
  test("an install waits for another program's lock", async () => {
    const place = makePlace();
    mkdirSync(`${place.file}.lock`);
    const waiting = place.install("cursor", "mine");
    // The other program's own delay.
    setTimeout(() => rmSync(`${place.file}.lock`, { recursive: true }), 100);
    expect(await waiting).toMatchObject({ changed: true });
    expect(readdirSync(place.folder)).toEqual(["mcp.json"]);
  });

  test("an edit fails if another program keeps the lock", async () => {
    const { file, folder } = makePlace();
    const release = await lockFile(file);
    vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
    try {
      const editing = editConfigFile(file, () => ({ text: "mine" }), { newMode: 0o600 });
      const failed = expect(editing).rejects.toMatchObject({
        code: "ClientConfigUnwritable",
        problem: { args: { reason: expect.stringContaining("mcp.json.lock") } },
      });
      await vi.advanceTimersByTimeAsync(31_000);
      await failed;
    } finally {
      vi.useRealTimers();
      release();
    }
    expect(read(file)).toBe(original);
    expect(readdirSync(folder)).toEqual(["mcp.json"]);
  });
});

test("installs at once, two of them in processes of their own, lose no entry", async () => {
  const place = makePlace();
  const { file, folder, install } = place;
  const names = Array.from({ length: 4 }, (_, index) => `server-${index}`);
  const [one = "", two = "", ...others] = names;
  const plans = await Promise.all([one, two].map((name) => place.planInstall("cursor", "mine", { name })));
  const processes = plans.map((plan) =>
    runProcess(process.execPath, [...hostArguments, savePlan(place.root, plan)], {
      cwd: place.project,
      env: { ...process.env, TSX_DISABLE_CACHE: "1" },
      timeoutMs: 110_000,
    }),
  );
  const installs = others.map((name) => install("cursor", "mine", { name }));
  expect((await Promise.all(processes)).map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  await Promise.all(installs);
  const { mcpServers } = JSON.parse(read(file).replace("// servers", ""));
  expect(Object.keys(mcpServers).sort()).toEqual(["theirs", ...names].sort());
  expect(readdirSync(folder)).toEqual(["mcp.json"]);
});

test("an install that another program's change overtakes is decided again", async () => {
  const place = makePlace();
  let tries = 0;
  const { decision } = await editConfigFile(
    place.file,
    (text = "") => {
      if (tries++ < 2) writeFileSync(place.file, `${text} `);
      return { text: `${text}// mine\n` };
    },
    { newMode: 0o600 },
  );
  expect(decision.text).toBe(`${original}  // mine\n`);
  expect(read(place.file)).toBe(decision.text);
  const keepChanging = (text = "") => {
    writeFileSync(place.file, `${text} `);
    return { text: "mine" };
  };
  await expect(editConfigFile(place.file, keepChanging, { newMode: 0o600 })).rejects.toMatchObject({
    code: "ClientConfigUnwritable",
  });
  expect(read(place.file)).not.toContain('"mine"');
  expect(readdirSync(place.folder)).toEqual(["mcp.json"]);
});

test("a change of the project's config that another process has made already is rejected", async () => {
  const root = makeTree({ "package.json": { name: "app" } });
  const change = [{ label: "a", entry: { command: "node" } }];
  const [first, second] = [await planConfigEdit(root, change), await planConfigEdit(root, change)];
  await first.apply();
  await expect(second.apply()).rejects.toMatchObject({ code: "InvalidConfig" });
  expect(read(join(root, first.file))).toContain("node");
});

test("after a failed write, folders that were made for the file are removed, and an empty one of the user stays", async () => {
  const folder = makeTree({});
  const fail = () => {
    throw new Error("no");
  };
  mkdirSync(join(folder, "theirs"));
  for (const file of ["theirs/mcp.json", "theirs/a/b/mcp.json"])
    await expect(editConfigFile(join(folder, file), fail, { newMode: 0o600 })).rejects.toThrow("no");
  expect(readdirSync(folder, { recursive: true })).toEqual(["theirs"]);
});

test("what an install left that was killed before it replaced the file is removed by the next one", async () => {
  const place = makePlace();
  writeFileSync(join(place.folder, ".mcp.json.trailblaze-0123456789ab"), "half");
  mkdirSync(`${place.file}.lock`);
  const longAgo = Date.now() / 1000 - 60;
  utimesSync(`${place.file}.lock`, longAgo, longAgo);
  await place.install("cursor", "mine");
  expect(readdirSync(place.folder)).toEqual(["mcp.json"]);
  await place.uninstall("cursor", "mine");
  expect(read(place.file)).toBe(original);
});

test("a config that is too large is refused before it is read", async () => {
  const { file, install } = makePlace();
  truncateSync(file, 65 << 20);
  await expect(install("cursor", "mine")).rejects.toMatchObject({
    code: "ClientConfigMalformed",
    problem: { args: { reason: "it has 65 MiB; the limit is 64 MiB" } },
  });
});
