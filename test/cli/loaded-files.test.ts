import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listed, lockEverything } from "../approval/support/locked-project.ts";
import { makeProject, probeServer } from "../session/support/session.ts";
import { makeTree } from "../support/packs.ts";
import { command } from "../support/run-cli.ts";
import { runProcess } from "../support/run-process.ts";

/** Writes the names of the loaded files of the command, without their hashes, and their sizes, when a process ends. */
const hook = `process.on("exit", () => {
  const fs = require("node:fs");
  const files = Object.keys(require.cache).filter((file) => file.includes("cli"));
  const short = (file) => file.split(/[\\\\/]/).pop().replace(/-[\\w-]{8}\\.cjs$/, "");
  const sizes = files.map((file) => [short(file), fs.statSync(file).size]);
  fs.writeFileSync(process.env.LOADED_FILES, JSON.stringify(sizes.sort()));
});`;

async function sizesOf(args: readonly string[], cwd: string): Promise<[name: string, bytes: number][]> {
  const folder = makeTree({ "hook.cjs": hook });
  const [file, out] = [join(folder, "hook.cjs"), join(folder, "loaded.json")];
  const env = { ...process.env, LOADED_FILES: out };
  const { exitCode, stderr } = await runProcess(process.execPath, ["--require", file, command, ...args], {
    cwd,
    env,
    timeoutMs: 60_000,
  });
  expect(exitCode, stderr).toBe(0);
  return JSON.parse(readFileSync(out, "utf8"));
}

const filesOf = async (args: readonly string[], cwd: string) =>
  (await sizesOf(args, cwd)).map(([name]) => name);

const listBytes = 50_000;

test("`list` loads little code where there is no config, and `--version` one file", async () => {
  const cwd = makeProject({ "node_modules/plain": { "package.json": { name: "plain", version: "1.0.0" } } });
  expect(await filesOf(["--version"], cwd)).toEqual(["cli.cjs"]);
  const bytes = (await sizesOf(["list"], cwd)).map(([, size]) => size);
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(listBytes);
});

test("`list` checks a valid `packs` without the schema of the config", async () => {
  const cwd = makeTree({
    "package.json": { name: "project" },
    "trailblaze.config.json": { packs: { deny: ["acme/*"], onError: "skip", memory: { notes: ["a"] } } },
  });
  const files = await filesOf(["list"], cwd);
  expect(files).toContain("config-file");
  expect(files).not.toContain("read-config");
});

test("`validate` and `inspect` load nothing of sessions", async () => {
  const pack = { name: "hello-tools", version: "1.0.0", type: "module", trailblaze: { tools: [] } };
  const cwd = makeTree({
    "package.json": { name: "project", dependencies: { "hello-tools": "1.0.0" } },
    "node_modules/hello-tools/package.json": pack,
  });
  for (const [name = "", folder] of [
    ["validate", join(cwd, "node_modules/hello-tools")],
    ["inspect", cwd],
  ] as const) {
    const files = await filesOf(name === "inspect" ? [name, "hello-tools"] : [name], folder);
    expect(files).toContain("load-definitions");
    expect(files, name).not.toContain("session");
  }
});

test("`tools` loads no client of MCP for servers that wait", async () => {
  const cwd = makeProject({});
  const server = {
    command: process.execPath,
    args: [probeServer],
    env: { PROBE_TOOLS: JSON.stringify([listed("one")]) },
  };
  writeFileSync(
    join(cwd, "trailblaze.config.json"),
    JSON.stringify({ logDir: "logs", mcpServers: { a: server } }),
  );
  await lockEverything(cwd);
  const files = await filesOf(["tools", "--lazy"], cwd);
  expect(files).toContain("session");
  const unneeded = ["check-definition", "remote-server", "revisions", "ask"];
  expect(files.filter((name) => unneeded.includes(name))).toEqual([]);
  expect(await filesOf(["tools"], cwd)).toEqual(expect.arrayContaining(["remote-server"]));
});
