import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { makeTree, packManifest } from "../support/packs.ts";
import { runCli } from "../support/run-cli.ts";

/** Loaded before the command: notes every file it opens, and every attempt to run something or reach somebody. */
const watcher = `
const fs = require("node:fs");
const write = fs.writeSync, open = fs.openSync;
const log = open(process.env.WATCH_LOG, "a");
const note = (what, value) => write(log, JSON.stringify([what, String(value)]) + "\\n");
for (const method of ["openSync", "open", "readFileSync", "readFile", "createReadStream"]) {
  const original = fs[method];
  fs[method] = (...args) => { note("open", args[0]); return original.apply(fs, args); };
}
const openPromise = fs.promises.open;
fs.promises.open = (...args) => { note("open", args[0]); return openPromise.apply(fs.promises, args); };
const readPromise = fs.promises.readFile;
fs.promises.readFile = (...args) => { note("open", args[0]); return readPromise.apply(fs.promises, args); };
for (const method of ["writeFileSync", "writeFile", "appendFileSync", "mkdirSync", "rmSync", "symlinkSync", "createWriteStream"]) {
  fs[method] = (...args) => { note("write", args[0]); };
}
const forbid = (object, methods, what) => {
  for (const method of methods) object[method] = () => { note(what, method); throw new Error(what + " is forbidden"); };
};
forbid(require("node:net").Socket.prototype, ["connect"], "network");
forbid(require("node:dns"), ["lookup", "resolve", "resolve4"], "network");
forbid(globalThis, ["fetch"], "network");
forbid(require("node:child_process"), ["spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync", "fork"], "process");
forbid(require("node:worker_threads"), ["Worker"], "worker");
forbid(require("node:vm"), ["runInContext", "runInNewContext", "runInThisContext"], "vm");
require("node:module").syncBuiltinESMExports();
`;

function makeWatchedProject() {
  const outside = makeTree({ "watch.cjs": watcher });
  const marker = join(outside, "marker");
  const run = `require("node:fs").writeSync(1, "ran"); require("node:fs").mkdirSync(${JSON.stringify(marker)});`;
  const root = makeTree({
    "package.json": {
      name: "app",
      main: "main.cjs",
      dependencies: { jira: "*" },
      workspaces: ["packages/*"],
    },
    "main.cjs": run,
    "trailblaze.config.json": { packs: { deny: ["nobody"] } },
    "node_modules/jira/package.json": packManifest("jira", {
      type: "commonjs",
      main: "./index.js",
      scripts: { install: "node index.js" },
      trailblaze: { tools: ["a", "b"], servers: ["s"], prompts: ["../bad"] },
    }),
    "node_modules/jira/index.js": run,
    "node_modules/jira/trailblaze/tools/a.js": run,
    "node_modules/jira/trailblaze/tools/b.json": "{}",
    "node_modules/jira/trailblaze/servers/s.cjs": run,
    "node_modules/broken/package.json": '{"trailblaze": ',
    "packages/member/package.json": packManifest("member", { type: "commonjs" }),
    "packages/member/index.js": run,
  });
  const log = join(outside, "log");
  const env = {
    WATCH_LOG: log,
    NODE_OPTIONS: `--require ${join(outside, "watch.cjs")}`,
    HOME: outside,
    npm_config_prefix: outside,
  };
  const readLog = () =>
    readFileSync(log, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as [what: string, value: string]);
  return { root, env, marker, readLog };
}

test.each(
  [
    ["list", "tools", "--json"],
    ["list", "--all", "--global"],
  ].map((args) => [args]),
)(
  "%j reads only package.json files and the project's own files, runs and writes nothing, and makes no requests",
  async (args) => {
    const { root, env, marker, readLog } = makeWatchedProject();
    const { stdout, exitCode } = await runCli(args, { cwd: root, env });
    expect(exitCode).toBe(1);
    expect(stdout).toContain("jira");
    const log = readLog();
    expect(log.filter(([what]) => what !== "open")).toEqual([]);
    const paths = new Set(log.map(([, path]) => relative(root, path)));
    const opened = [...paths].filter((path) => !path.startsWith(".."));
    expect(opened.filter((path) => !/(^|\/)package\.json$/.test(path))).toEqual(["trailblaze.config.json"]);
    expect(opened).toContain("node_modules/jira/package.json");
    expect(existsSync(marker)).toBe(false);
  },
);
