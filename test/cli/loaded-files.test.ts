import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listed, lockEverything } from "../approval/support/locked-project.ts";
import { makeProject, probeServer } from "../session/support/session.ts";
import { makeTree } from "../support/packs.ts";
import { command } from "../support/run-cli.ts";
import { runProcess } from "../support/run-process.ts";

/** Writes the names of the loaded files of the command, without their hashes, when a process ends. */
const hook = `process.on("exit", () => {
  const names = Object.keys(require.cache).filter((file) => file.includes("cli"));
  const short = names.map((file) => file.split(/[\\\\/]/).pop().replace(/-[\\w-]{8}\\.cjs$/, ""));
  require("node:fs").writeFileSync(process.env.LOADED_FILES, JSON.stringify(short.sort()));
});`;

async function filesOf(args: readonly string[], cwd: string): Promise<string[]> {
  const folder = makeTree({ "hook.cjs": hook });
  const [file, out] = [join(folder, "hook.cjs"), join(folder, "loaded.json")];
  const env = { ...process.env, LOADED_FILES: out };
  const { exitCode, stderr } = await runProcess(process.execPath, ["--require", file, command, ...args], {
    ...{ cwd, env, timeoutMs: 60_000 },
  });
  expect(exitCode, stderr).toBe(0);
  return JSON.parse(readFileSync(out, "utf8"));
}

const always = ["base", "cli.cjs"];
/** Helpers of the bundler. */
const runtime = "rolldown-runtime";

test("`list` loads one file beside those of every command, and `--version` none", async () => {
  const cwd = makeProject({ "node_modules/plain": { "package.json": { name: "plain", version: "1.0.0" } } });
  expect(await filesOf(["--version"], cwd)).toEqual(always);
  expect(await filesOf(["list"], cwd)).toEqual([...always, "list", runtime].sort());
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
    expect(files).toContain("shared");
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
  const unneeded = ["check-definition", "launching", "start-server", "stdio-channel", "revisions", "ask"];
  expect(files.filter((name) => unneeded.includes(name))).toEqual([]);
  expect(await filesOf(["tools"], cwd)).toEqual(expect.arrayContaining(["launching", "stdio-channel"]));
});
