import { spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ChangeStep } from "../../src/files/config-files.ts";
import type { ApplySettings } from "../../src/install/apply-plan.ts";
import type { InstallPlan } from "../../src/install/plan.ts";
import { waitUntil } from "../support/wait-until.ts";
import { makeInstallPlace } from "./install-place.ts";

const read = (file: string) => readFileSync(file, "utf8");
const original = '{\n  // servers\n  "mcpServers": { "theirs": {} }\n}\n';
const changed = '{\n  // servers\n  "mcpServers": { "theirs": {}, "new": {} }\n}\n';

function makePlace(settings: ApplySettings = {}) {
  const place = makeInstallPlace({ "home/.cursor/mcp.json": original }, settings);
  const folder = join(place.home, ".cursor");
  const file = join(folder, "mcp.json");
  /** Does something when a step of the config's change is reached for the n-th time. */
  const at = (wanted: ChangeStep, act: (round: number) => void) => {
    let round = 0;
    place.settings.onStep = (step, reached) => {
      if (step === wanted && reached === file) act(round++);
    };
  };
  return { ...place, folder, file, at };
}

const writeInPlace = (file: string, text: string) => writeFileSync(file, text);
const writeAside = (file: string, text: string) => {
  writeFileSync(`${file}.theirs`, text);
  renameSync(`${file}.theirs`, file);
};
const ways = [
  ["in place", writeInPlace],
  ["by renaming", writeAside],
] as const;

describe("a change that another program makes during an edit", () => {
  test.each(ways)("an install keeps a change that another program makes %s meanwhile", async (_, write) => {
    const { install, uninstall, at, file, folder } = makePlace();
    at("drafted", (round) => round === 0 && write(file, changed));
    const { backup, diff } = await install("cursor", "mine");
    expect(read(file)).toContain('"new": {}, "mine"');
    expect(read(backup ?? "")).toBe(changed);
    expect(diff).toContain('-  "mcpServers": { "theirs": {}, "new": {} }');
    expect(readdirSync(folder)).toEqual(["mcp.json"]);
    await uninstall("cursor", "mine");
    expect(read(file)).toBe(changed);
  });

  test.each(ways)("an uninstall keeps a change that another program makes %s meanwhile", async (_, write) => {
    const { install, uninstall, at, file } = makePlace();
    await install("cursor", "mine");
    const text = read(file).replace('"theirs"', '"new": {}, "theirs"');
    at("drafted", (round) => round === 0 && write(file, text));
    await uninstall("cursor", "mine");
    expect(read(file)).toBe(original.replace('"theirs"', '"new": {}, "theirs"'));
  });

  test.each(ways)(
    "restoring an entry that --force replaced keeps a change that another program makes %s meanwhile",
    async (_, write) => {
      const { install, uninstall, at, file } = makePlace();
      await install("cursor", "mine", { name: "theirs", force: true });
      at("drafted", (round) => round === 0 && write(file, read(file).replace("// servers", "// edited")));
      await uninstall("cursor", "mine", { name: "theirs" });
      expect(read(file)).toBe(original.replace("// servers", "// edited"));
    },
  );

  test.each(ways)(
    "a file that another program changes %s meanwhile is not deleted with its last entry",
    async (_, write) => {
      const { install, uninstall, home, settings } = makePlace();
      const { file } = await install("kiro", "mine");
      const text = read(file).replace("{", '{\n  "new": 1,');
      let isChanged = false;
      settings.onStep = (step) => {
        if (step !== "backedUp" || isChanged) return;
        isChanged = true;
        write(file, text);
      };
      await uninstall("kiro", "mine");
      expect(JSON.parse(read(file))).toEqual({ new: 1 });
      expect(readdirSync(join(home, ".kiro/settings"))).toEqual(["mcp.json"]);
    },
  );

  test("an install keeps the content if another program creates the file meanwhile", async () => {
    const { install, settings } = makePlace();
    settings.onStep = (step, file) => {
      if (step === "drafted" && file.includes(".kiro") && !existsSync(file))
        writeFileSync(file, '{"new": 1}\n');
    };
    const { file, backup } = await install("kiro", "mine");
    expect(JSON.parse(read(file))).toMatchObject({ new: 1, mcpServers: { mine: {} } });
    expect(read(backup ?? "")).toBe('{"new": 1}\n');
  });

  test("an install keeps what another program writes to the old file after it was replaced", async () => {
    const { install, uninstall, at, file, folder } = makePlace();
    const descriptor = openSync(file, "r+");
    at("replaced", (round) => {
      if (round > 0) return;
      ftruncateSync(descriptor);
      writeSync(descriptor, changed.slice(0, 20), 0);
      setTimeout(() => {
        writeSync(descriptor, changed, 0);
        closeSync(descriptor);
      }, 40);
    });
    await install("cursor", "mine");
    expect(read(file)).toContain('"new": {}, "mine"');
    expect(readdirSync(folder)).toEqual(["mcp.json"]);
    await uninstall("cursor", "mine");
    expect(read(file)).toBe(changed);
  });

  test("an install adds its entry again if another program overwrites it", async () => {
    const { install, file, settings } = makePlace();
    const rounds = { drafted: 0, replaced: 0 };
    settings.onStep = (step, reached) => {
      if (reached !== file || (step !== "drafted" && step !== "replaced")) return;
      if (rounds[step]++ === 0) writeAside(file, step === "drafted" ? changed : original);
    };
    await install("cursor", "mine");
    expect(read(file)).toContain('"theirs": {}, "mine"');
  });

  test("an install fails if another program keeps removing its entry", async () => {
    const { install, file, settings, stateFolder } = makePlace({ contendedMs: 50 });
    let drafts = 0;
    settings.onStep = (step, reached) => {
      if (reached !== file) return;
      if (step === "drafted" && drafts++ === 0) writeAside(file, changed);
      if (step === "replaced") writeAside(file, original);
    };
    await expect(install("cursor", "mine")).rejects.toMatchObject({
      code: "ClientConfigUnwritable",
      problem: { args: { file, reason: expect.stringContaining("another program") } },
    });
    expect(read(file)).toBe(original);
    expect(JSON.parse(read(join(stateFolder, "installs.json"))).entries).toEqual([]);
  });

  test("an install that another program keeps interrupting fails and leaves that program's content", async () => {
    const place = makePlace({ contendedMs: 50 });
    const { install, at, file, folder, stateFolder } = place;
    let last = "";
    at("drafted", (round) => {
      last = original.replace("{}", `{ "round": ${round} }`);
      writeAside(file, last);
    });
    await expect(install("cursor", "mine")).rejects.toMatchObject({
      code: "ClientConfigUnwritable",
      problem: { args: { file, reason: expect.stringContaining("another program") } },
    });
    expect(read(file)).toBe(last);
    expect(readdirSync(folder)).toEqual(["mcp.json"]);
    expect(readdirSync(join(stateFolder, "backups"))).toEqual([]);
    expect(JSON.parse(read(join(stateFolder, "installs.json"))).entries).toEqual([]);
  });
});

test("a config that is only half written is read again", async () => {
  const { planInstall, install, file } = makePlace();
  const cut = () => {
    truncateSync(file, 20);
    setTimeout(() => writeFileSync(file, changed), 60);
  };
  cut();
  expect((await planInstall("cursor", "mine")).changed).toBe(true);
  cut();
  await install("cursor", "mine");
  expect(read(file)).toContain('"new": {}, "mine"');
});

test("a config that stays broken is rejected, but an empty one is not", async () => {
  const { install, file } = makePlace();
  truncateSync(file, 20);
  await expect(install("cursor", "mine")).rejects.toMatchObject({ code: "ClientConfigMalformed" });
  truncateSync(file, 0);
  expect(await install("cursor", "mine")).toMatchObject({ changed: true });
});

test("an install succeeds while other files appear in the folder", async () => {
  const { install, folder, at } = makePlace();
  at("drafted", (round) => writeFileSync(join(folder, `mcp.json.${round}`), ""));
  expect(await install("cursor", "mine")).toMatchObject({ changed: true });
});

test("twelve installs lose no change of a program that writes the same config every 25 ms", async () => {
  const { root, planInstall, apply } = makePlace();
  const file = join(root, "shared.json");
  writeFileSync(file, "{}\n");
  // Finding the servers takes long and is not part of the competition.
  const plans: InstallPlan[] = [];
  for (let round = 0; round < 12; round++)
    plans.push(await planInstall("cursor", "mine", { file, name: `n${round}` }));
  const script = `
    const { readFileSync, renameSync, writeFileSync } = require("node:fs");
    const file = process.argv[1];
    const written = [];
    const lost = () => { const now = JSON.parse(readFileSync(file, "utf8")); return written.filter((key) => !(key in now)); };
    setInterval(() => {
      if (lost().length > 0) process.exit(1);
      const now = JSON.parse(readFileSync(file, "utf8"));
      written.push("key" + written.length);
      now[written.at(-1)] = 1;
      writeFileSync(file + ".theirs", JSON.stringify(now, null, 2));
      renameSync(file + ".theirs", file);
    }, 25);
    process.stdin.on("data", () => process.exit(lost().length === 0 && written.length > 2 ? 0 : 1));`;
  // Ended by its input at the end of the test, and with the test's process.
  const child = spawn(process.execPath, ["--eval", script, file], { stdio: ["pipe", "ignore", "inherit"] });
  child.stdin.on("error", () => {});
  const ended = new Promise((resolve) => child.on("close", resolve));
  try {
    await waitUntil(() => read(file).includes("key0"));
    for (const plan of plans) await apply(plan);
  } finally {
    child.stdin.end("done");
  }
  expect(await ended).toBe(0);
  // A program that the system suspends between reading and writing overwrites an entry after it was confirmed.
  expect(Object.keys(JSON.parse(read(file)).mcpServers).length).toBeGreaterThanOrEqual(9);
});

describe("the lock of a shared config", () => {
  test("a config is edited after a wait if its lock has no known owner, and the lock stays", async () => {
    const waits: string[] = [];
    const place = makePlace({ graceMs: 400, onWait: (what) => waits.push(what) });
    const lock = `${place.file}.lock`;
    mkdirSync(lock);
    expect(await place.install("cursor", "mine")).toMatchObject({ changed: true });
    expect(waits).toEqual([`another program, which holds the lock ${lock}`]);
    expect(readdirSync(place.folder)).toEqual(["mcp.json", "mcp.json.lock"]);
  });
});
