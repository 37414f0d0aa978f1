import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, inject, onTestFinished, test, vi } from "vitest";
import { processesWith } from "../confinement/evaluate-pack.ts";
import { runMain } from "../support/main.ts";
import { makeTar } from "../support/make-tar.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { isRunning, readPids } from "../support/processes.ts";
import { command } from "../support/run-cli.ts";
import { runProcess } from "../support/run-process.ts";
import { samplePack } from "../support/sample-packs.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";
import { writeTree } from "../support/tree.ts";
import { waitUntil } from "../support/wait-until.ts";

/** npm itself may leave its compile cache in a temporary folder. */
const expectNoTraces = (temporary: string) =>
  expect(readdirSync(temporary).filter((name) => name.startsWith("trailblaze"))).toEqual([]);

async function validateWith(cache: string, cwd: string, ...args: readonly string[]) {
  const folder = makeTemporaryFolder();
  onTestFinished(folder.remove);
  const env = { TMPDIR: folder.path, npm_config_registry: inject("registry"), npm_config_cache: cache };
  const result = await runMain(["validate", "--as-installed", "--json", ...args], { cwd, env });
  expectNoTraces(folder.path);
  return { ...result, document: JSON.parse(result.stdout) };
}

const validate = (cwd: string, ...args: readonly string[]) =>
  validateWith(join(makeTree({}), "cache"), cwd, ...args);

const isFailing = ({ code }: { code: string }) => code === "FailsAsInstalled";

const greetTool = {
  name: "greet",
  description: "Greet.",
  inputSchema: { type: "object" },
  handler: "./lib/greet.js#greet",
};

const makePack = (code: string, more: object = {}) =>
  makeTree({
    "package.json": packManifest("tb-desk", {
      type: "module",
      files: ["lib", "trailblaze"],
      trailblaze: { tools: ["greet"] },
      ...more,
    }),
    "trailblaze/tools/greet.json": greetTool,
    "lib/greet.js": code,
  });

test("modules and servers that fail or take too long are named with the reason, as are handlers that are missing", async () => {
  const title = join(makeTree({}), "importing");
  const modules = {
    throws: ['throw new Error("no table");', "no table"],
    lacks: ['export { run } from "node:path";', "run"],
    exits: ["process.exit(3);", "exit code 3"],
    loops: [`process.title = ${JSON.stringify(title)};\nfor (;;);`, "it took longer than 10 s"],
  } as const;
  // No parser finds the names of its functions.
  const found = {
    greet: "./all.cjs#greet",
    part: "./all.cjs#part",
    wave: "./all.cjs#wave",
    bow: "./bow.cjs",
  };
  const handlers = {
    ...Object.fromEntries(Object.keys(modules).map((name) => [name, `./${name}.js#run`])),
    ...found,
  };
  const servers = ["desk", "silent"];
  const cwd = makeTree({
    "package.json": packManifest("tb-desk", { trailblaze: { tools: Object.keys(handlers), servers } }),
    "trailblaze.config.yaml": "timeouts: { handshakeMs: 2000 }\n",
    "trailblaze/servers/desk.json": { script: "./desk.js", description: "Desk." },
    "desk.js": 'console.error("no license");\nprocess.exit(4);',
    "trailblaze/servers/silent.json": { script: "./silent.js", description: "Silent." },
    "silent.js": "process.stdin.resume();",
    ...Object.fromEntries(
      Object.entries(handlers).map(([name, handler]) => [
        `trailblaze/tools/${name}.json`,
        { ...greetTool, name, handler },
      ]),
    ),
    ...Object.fromEntries(
      Object.entries(modules).map(([name, [code]]) => [
        `${name}.js`,
        name === "lacks" ? code : `${code}\nexport const run = () => 1;`,
      ]),
    ),
    "all.cjs": "module.exports = Object.assign({ get lazy() { throw 0; } }, { greet() {}, wave: 5 });",
    "bow.cjs": 'Object.defineProperty(exports, "__esModule", { value: true });\nexports.default = () => 1;',
  });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const validation = validate(makeTree({}), cwd, "--yes");
  await waitUntil(() => processesWith(title).length > 0, 60_000);
  vi.advanceTimersByTime(10_000);
  vi.useRealTimers();
  const { document, exitCode } = await validation;
  const reasons = {
    ...Object.fromEntries(Object.entries(modules).map(([item, [, words]]) => [item, words])),
    part: '"all.cjs" has no export "part" that is a function',
    wave: '"all.cjs" has no export "wave" that is a function',
    desk: "no license",
    silent: "2000 ms",
  };
  expect(document.problems.filter(isFailing)).toMatchObject(
    Object.entries(reasons).map(([item, words]) => ({
      item,
      ...(servers.includes(item)
        ? { file: `trailblaze/servers/${item}.json`, path: ["script"] }
        : { file: `trailblaze/tools/${item}.json`, path: ["handler"] }),
      line: expect.any(Number),
      args: { reason: expect.stringContaining(words) },
    })),
  );
  expect(document.ok).toBe(false);
  expect(exitCode).toBe(1);
});

test("a pack whose tools and server work has no problems; dependencies come from the registry, from tarballs that are given and, offline, from npm's cache alone", async () => {
  const text = JSON.stringify(packManifest("tb-unpublished"));
  const packed = gzipSync(makeTar([{ path: "package/package.json", text }]));
  const tarball = join(makeTree({ "x.tgz": packed }), "x.tgz");
  const dependencies = { "tb-unpublished": "^1.0.0", "hello-tools": "^1.0.0" };
  const cwd = makeTree({});
  cpSync(samplePack("@acme/notes").folder, cwd, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(cwd, "package.json"), "utf8"));
  writeTree(cwd, { "package.json": { ...manifest, dependencies } });
  const cache = join(makeTree({}), "cache");
  const args = ["--yes", "--with", tarball];
  const { document, exitCode } = await validateWith(cache, cwd, ...args, "--offline");
  expect(document.error).toMatchObject({ code: "InstallFailed" });
  expect(exitCode).toBe(1);
  for (const more of [[], ["--offline"]]) {
    const filled = await validateWith(cache, cwd, ...args, ...more);
    expect(filled).toMatchObject({ exitCode: 0, document: { problems: [] } });
  }
});

test("a pack that is none once installed is named beside what else is wrong with it", async () => {
  const cwd = makeTree({
    "package.json": packManifest("tb-desk", { trailblaze: undefined, files: ["lib"] }),
    "skills/triage/SKILL.md": "---\nname: triage\ndescription: Sort issues.\n---\nSort them.\n",
  });
  const { document } = await validate(cwd, "--yes");
  expect(document.problems).toMatchObject([
    { code: "FileNotPublished", item: "triage" },
    { code: "FailsAsInstalled", args: { reason: "it has neither a `trailblaze` field nor skills" } },
  ]);
});

/** Starts the command without waiting for it, with a temporary folder of its own. */
function startValidation(cwd: string, temporary: string) {
  const env = { ...process.env, TMPDIR: temporary, npm_config_cache: join(makeTree({}), "cache") };
  const args = [command, "validate", "--as-installed", "--yes", "--json"];
  const child = spawn(process.execPath, args, { cwd, env });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.resume();
  const ended = once(child, "close").then(([exitCode]) => ({ exitCode, document: JSON.parse(stdout) }));
  return { child, ended };
}

test.skipIf(process.platform === "win32")(
  "SIGTERM ends the server, leaves nothing behind and exits with 1",
  async () => {
    const folder = makeTemporaryFolder();
    onTestFinished(folder.remove);
    const cwd = makeTree({
      "package.json": packManifest("tb-desk", { type: "module", trailblaze: { servers: ["desk"] } }),
      "trailblaze/servers/desk.json": { script: "./desk.js", args: [folder.path], description: "Desk." },
      "desk.js":
        'import { writeFileSync } from "node:fs";\nwriteFileSync(process.argv[2] + "/pid", String(process.pid));\nsetInterval(() => {}, 1000);',
    });
    const { child, ended } = startValidation(cwd, folder.path);
    const pids = join(folder.path, "pid");
    await waitUntil(() => readPids(pids).length > 0, 30_000);
    child.kill("SIGTERM");
    expect((await ended).exitCode).toBe(1);
    expect(readPids(pids).filter(isRunning)).toEqual([]);
    expectNoTraces(folder.path);
  },
);

test.runIf(process.platform === "linux")(
  "SIGINT ends the import of a module at once and leaves nothing behind",
  async () => {
    const folder = makeTemporaryFolder();
    onTestFinished(folder.remove);
    const title = join(folder.path, "importing");
    const cwd = makePack(
      `process.title = ${JSON.stringify(title)};\nfor (;;);\nexport const greet = () => 1;`,
    );
    const { child, ended } = startValidation(cwd, folder.path);
    await waitUntil(() => processesWith(title).length > 0, 30_000);
    child.kill("SIGINT");
    const { exitCode, document } = await ended;
    // A module that is not interrupted would be reported after its 10 seconds.
    expect(document.error).toMatchObject({ code: "InstallFailed" });
    expect(exitCode).toBe(130);
    await waitUntil(() => processesWith(folder.path).length === 0);
    expectNoTraces(folder.path);
  },
);

const hasScript = spawnSync("script", ["--version"]).status === 0;

test.runIf(hasScript && process.platform === "linux")(
  "on a terminal, --as-installed installs nothing without a yes",
  async () => {
    const cwd = makePack("export const greet = () => 1;");
    const args = [process.execPath, command, "validate", "--as-installed"].map((arg) => `'${arg}'`).join(" ");
    const options = { cwd, env: process.env, timeoutMs: 30_000, input: "n\n" };
    const ended = await runProcess("script", ["-qec", args, "/dev/null"], options);
    expect(ended.stdout).toContain("[y/N]");
    expect(ended.stdout).not.toContain("npm install");
    expect(ended.exitCode).toBe(1);
  },
);

test("--as-installed requires --yes without a terminal, and its options and tarballs require it", async () => {
  const cwd = makePack("export const greet = () => 1;");
  expect((await validate(cwd)).exitCode).toBe(2);
  expect((await runMain(["validate", "--offline"], { cwd })).exitCode).toBe(2);
  const { document, exitCode } = await validate(cwd, "--yes", "--with", "./missing.tgz");
  expect(document.error.code).toBe("InvalidArguments");
  expect(exitCode).toBe(2);
});
