// The processes of these sessions end with them.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { attempt } from "../../src/files/file-errors.ts";
import { lockFileOf } from "../../src/lock/lock-file.ts";
import type { ProjectReading } from "../../src/session/read-project.ts";
import { Session } from "../../src/session/session.ts";
import type { SessionServer } from "../../src/session/session-servers.ts";
import { lockEverything } from "../approval/support/locked-project.ts";
import { packManifest } from "../support/packs.ts";
import { isRunning } from "../support/processes.ts";
import { serveRaw } from "../support/remote-servers.ts";
import { type Tree, writeTree } from "../support/tree.ts";
import { waitUntil } from "../support/wait-until.ts";
import { openFollowed } from "./support/followed.ts";
import {
  jsonOf,
  makeProject,
  openForTest,
  probe,
  probeDefinition,
  probeServer,
  toolPack,
} from "./support/session.ts";

const handler = (answer: string) => `export const ask = () => ${JSON.stringify(answer)};\n`;
const askPack = (answer: string, name = "ask", version = "1.0.0") =>
  toolPack({ ask: { name } }, handler(answer), { "package.json": { version } });
const config = (content: object) => ({ "trailblaze.config.json": { logDir: "logs", ...content } });

function writeJson(cwd: string, path: string, value: object) {
  writeFileSync(join(cwd, path), JSON.stringify(value));
}

/** What an installation writes: the package, the dependency, and npm's own record, which is last. */
function installPack(cwd: string, name: string, files: Tree) {
  const { "package.json": manifest, ...others } = files;
  rmSync(join(cwd, "node_modules", name), { recursive: true, force: true });
  writeTree(join(cwd, "node_modules", name), {
    ...others,
    "package.json": packManifest(name, manifest as Record<string, unknown>),
  });
  declare(cwd, name, "*");
  writeJson(cwd, "node_modules/.package-lock.json", { name: "app" });
}

function declare(cwd: string, name: string, range: string | undefined) {
  const path = join(cwd, "package.json");
  const project = JSON.parse(readFileSync(path, "utf8"));
  writeJson(cwd, "package.json", { ...project, dependencies: { ...project.dependencies, [name]: range } });
}

test("a session that follows its project has the tools of a pack after its installation, and not after its removal", async () => {
  const cwd = makeProject({}, { ...config({}), "node_modules/.keep": "" });
  const still = await openForTest(cwd, { config: "trailblaze.config.json" });
  const { session, changes, names, change } = await openFollowed(cwd);
  expect(names()).toEqual([]);
  await change(() => installPack(cwd, "@acme/ask", askPack("one")));
  await waitUntil(() => changes.length === 1);
  expect(names()).toEqual(["ask"]);
  expect(changes).toEqual([{ tools: true, prompts: false, problems: [] }]);
  expect(await session.callTool("ask")).toMatchObject({ message: "one" });
  await change(() => {
    rmSync(join(cwd, "node_modules/@acme"), { recursive: true });
    declare(cwd, "@acme/ask", undefined);
  });
  await waitUntil(() => changes.length === 2);
  expect(names()).toEqual([]);
  await expect(session.callTool("ask")).rejects.toMatchObject({ code: "ToolNotFound" });
  expect(still.tools).toEqual([]);
});

test("an updated pack runs its new code in a new process, and a call in flight ends on the old code", async () => {
  const module = (answer: string) => `
    export const ask = async (args, { log }) => {
      if (!args.wait) return ${JSON.stringify(answer)} + " " + process.pid;
      log("info", "waiting");
      const { existsSync } = await import("node:fs");
      while (!existsSync(args.wait)) await new Promise((resolve) => setTimeout(resolve, 10));
      return ${JSON.stringify(answer)};
    };`;
  const pack = (answer: string, version: string) =>
    toolPack({ ask: {} }, module(answer), { "package.json": { version } });
  const cwd = makeProject({ "@acme/ask": pack("old", "1.0.0") }, config({}));
  const logs: unknown[] = [];
  const { session, changes, change } = await openFollowed(cwd, { onLog: (entry) => logs.push(entry) });
  const answer = async () => (await session.callTool("ask")).message;
  const before = await answer();
  expect(before).toBe(`old ${Number(before.split(" ")[1])}`);
  expect(before).not.toContain(String(process.pid));
  const inFlight = session.callTool("ask", { wait: join(cwd, "go") });
  await waitUntil(() => logs.length === 1);
  await change(() => installPack(cwd, "@acme/ask", pack("new", "2.0.0")));
  await waitUntil(() => session.tools[0]?.source.version === "2.0.0");
  expect(await answer()).toMatch(/^new /);
  // The lists stay as they are.
  expect(changes).toEqual([]);
  writeFileSync(join(cwd, "go"), "");
  expect(await inFlight).toMatchObject({ variant: "Success", message: "old" });
  // Without a call on it, the old process ends.
  await waitUntil(() => !isRunning(Number(before.split(" ")[1])));
});

test("a call in flight ends on the server of a pack that is removed, and the server ends after it", async () => {
  const gate = join(makeProject({}), "gate");
  const server = (name: string) => ({
    "package.json": { trailblaze: { servers: ["probe"] } },
    "trailblaze/servers/probe.json": probeDefinition({ PROBE_PREFIX: name, PROBE_WAIT: gate }),
  });
  const cwd = makeProject({ "@acme/gone": server("gone"), "@acme/kept": server("kept") }, config({}));
  const { session, changes, change } = await openFollowed(cwd);
  const pidOf = async (name: string) => jsonOf(await session.callTool(`${name}_tell`)).pid;
  const [gone, kept] = [await pidOf("gone"), await pidOf("kept")];
  let hasBegun = false;
  const inFlight = session.callTool("gone_wait", {}, { onProgress: () => (hasBegun = true) });
  await waitUntil(() => hasBegun);
  await change(() => {
    declare(cwd, "@acme/gone", undefined);
    rmSync(join(cwd, "node_modules/@acme/gone"), { recursive: true });
  });
  await waitUntil(() => changes.length === 1);
  expect(isRunning(gone)).toBe(true);
  await expect(session.callTool("gone_tell")).rejects.toMatchObject({ code: "ToolNotFound" });
  writeFileSync(gate, "");
  expect(await inFlight).toMatchObject({ variant: "Success", message: "waited" });
  await waitUntil(() => !isRunning(gone));
  expect(await pidOf("kept")).toBe(kept);
});

test("many changes are applied once, after 500 milliseconds of silence", async () => {
  // Every state tries to start it again.
  const broken = { trailblazeSubprocessToolsets: [{ name: "broken", command: "/no/such/program" }] };
  const cwd = makeProject({ "@acme/ask": askPack("one") }, config(broken));
  const starts: unknown[] = [];
  const onCommand = (command: unknown) => starts.push(command);
  const { changes, clock, names, change } = await openFollowed(cwd, { onCommand });
  expect(starts).toHaveLength(1);
  await change(() => {
    for (let count = 1; count <= 50; count++) {
      const deny = count < 50 ? [] : ["acme/ask"];
      writeJson(cwd, "trailblaze.config.json", { logDir: "logs", ...broken, packs: { deny } });
      clock.advance(1);
    }
  });
  await waitUntil(() => changes.length === 1);
  expect(names()).toEqual([]);
  expect(starts).toHaveLength(2);
});

test("servers whose launch stays keep running when the config or other values of files change, others start or end", async () => {
  const remote = await serveRaw(() => {});
  const far = { url: remote.url, headers: { "x-key": "${KEY}" } };
  const of = (...servers: object[]) => ({
    logDir: "logs",
    mcpServers: { far: { ...far, envFile: ".env" } },
    trailblazeSubprocessToolsets: servers,
  });
  const env = (other: string) => `KEY=abc\nOTHER=${other}-of-the-file\n`;
  const cwd = makeProject({}, { ...config(of(probe("kept"), probe("gone"))), ".env": env("one") });
  const { session, changes, names, change } = await openFollowed(cwd);
  const pidOf = async (name: string) => jsonOf(await session.callTool(`${name}_tell`)).pid;
  const [kept, gone] = [await pidOf("kept"), await pidOf("gone")];
  await change(() => {
    writeFileSync(join(cwd, ".env"), env("two"));
    const changed = { ...probe("kept"), tools: { deny: ["kept_hang"] } };
    writeJson(cwd, "trailblaze.config.json", of(probe("new", { PROBE_PREFIX: "new" }), changed));
  });
  await waitUntil(() => changes.length > 0 && names().includes("new_tell"));
  expect(await pidOf("kept")).toBe(kept);
  expect(names()).not.toContain("kept_hang");
  await waitUntil(() => !isRunning(gone));
  expect(names().some((name) => name.startsWith("gone"))).toBe(false);
  expect(remote.methods().filter((method) => method === "initialize")).toHaveLength(1);
});

test("a server with another program is started anew after an installation, although its version stays", async () => {
  const write = (cwd: string, text: string) => {
    const program = `// ${text}\nimport ${JSON.stringify(probeServer)};\n`;
    const env = { PROBE_PREFIX: "own" };
    installPack(cwd, "@acme/own", {
      "package.json": { trailblaze: { servers: ["own"] } },
      "trailblaze/servers/own.json": { script: "server.mjs", env },
      "server.mjs": program,
    });
    const manifest = { name: "user", version: "1.0.0", bin: "server.mjs" };
    writeTree(join(cwd, "node_modules/user"), { "package.json": manifest, "server.mjs": program });
  };
  const user = { package: "user", env: { PROBE_PREFIX: "user" } };
  const cwd = makeProject({}, config({ mcpServers: { user } }));
  write(cwd, "old");
  const { session, change } = await openFollowed(cwd);
  const pidOf = async (name: string) => jsonOf(await session.callTool(`${name}_tell`)).pid;
  const pids = [await pidOf("own"), await pidOf("user")];
  await change(() => write(cwd, "old"));
  expect([await pidOf("own"), await pidOf("user")]).toEqual(pids);
  await change(() => write(cwd, "new"));
  await waitUntil(() => !pids.some(isRunning));
});

test("changes are applied while a pack of the workspace is declared, but not linked by an installation yet", async () => {
  const cwd = makeProject({ "@acme/ask": askPack("one") }, config({}));
  renameSync(join(cwd, "node_modules/@acme/ask"), join(cwd, "pack"));
  writeJson(cwd, "package.json", { workspaces: ["pack"], dependencies: { "@acme/ask": "*" } });
  const { changes, names, change } = await openFollowed(cwd);
  expect(names()).toEqual(["ask"]);
  await change(() => writeJson(cwd, "trailblaze.config.json", { packs: { deny: ["acme/ask"] } }));
  await waitUntil(() => changes.length === 1);
});

test("the tools stay, and nothing is reported, while a package.json or the config is invalid or a declared pack is missing", async () => {
  const cwd = makeProject({ "@acme/ask": askPack("one"), "@acme/more": askPack("two", "more") }, config({}));
  const { session, changes, reported, names, change } = await openFollowed(cwd);
  const breaks = [
    () => writeFileSync(join(cwd, "trailblaze.config.json"), "{"),
    () => writeFileSync(join(cwd, "package.json"), '{ "name": "app", '),
    () => rmSync(join(cwd, "node_modules/@acme/more"), { recursive: true }),
  ];
  const valid = ["package.json", "trailblaze.config.json"].map((name) => readFileSync(join(cwd, name)));
  for (const make of breaks) {
    await change(make);
    // Time to apply it.
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(names()).toEqual(["ask", "more"]);
    await change(() => writeFileSync(join(cwd, "package.json"), valid[0] ?? ""));
    writeFileSync(join(cwd, "trailblaze.config.json"), valid[1] ?? "");
  }
  await change(() => installPack(cwd, "@acme/more", askPack("three", "most", "2.0.0")));
  await waitUntil(() => changes.length === 1);
  expect(names()).toEqual(["ask", "most"]);
  expect([...reported, ...session.problems]).toEqual([]);
});

test("a declared package without items may be missing or broken: later changes are applied", async () => {
  const cwd = makeProject({ "@acme/ask": askPack("one") }, config({}));
  for (const name of ["plain", "other"]) {
    writeTree(join(cwd, "node_modules", name), { "package.json": { name, version: "1.0.0" } });
    declare(cwd, name, "*");
  }
  const { changes, names, change } = await openFollowed(cwd);
  await change(() => {
    rmSync(join(cwd, "node_modules/plain"), { recursive: true });
    writeFileSync(join(cwd, "node_modules/other/package.json"), '{ "trailblaze": ');
    writeJson(cwd, "trailblaze.config.json", { logDir: "logs", packs: { deny: ["acme/ask"] } });
  });
  await waitUntil(() => changes.length === 1);
  expect(names()).toEqual([]);
});

test("a session that opened with a lock takes nothing more while there is none, and says so until there is one", async () => {
  const cwd = makeProject({ "@acme/ask": askPack("one") }, config({}));
  await lockEverything(cwd);
  const { session, reported, names, change } = await openFollowed(cwd);
  const lock = readFileSync(lockFileOf(cwd));
  await change(() => {
    rmSync(lockFileOf(cwd));
    installPack(cwd, "@acme/more", askPack("two", "more"));
  });
  await waitUntil(() => reported.length === 1);
  expect(reported).toMatchObject([{ code: "LockMissing" }]);
  expect(names()).toEqual(["ask"]);
  await change(() => writeFileSync(lockFileOf(cwd), lock));
  await waitUntil(() => session.problems.every(({ code }) => code === "NotApproved"));
  expect(names()).toEqual(["ask"]);
});

test("a server that stops answering its start for good is left out, and does not delay later changes", async () => {
  const cwd = makeProject({ "@acme/ask": askPack("one") }, config({}));
  const gate = join(cwd, "gate");
  const { clock, names, change } = await openFollowed(cwd);
  const write = (content: object) => writeJson(cwd, "trailblaze.config.json", { logDir: "logs", ...content });
  const silent = { trailblazeSubprocessToolsets: [probe("silent", { PROBE_GATE: gate })] };
  await change(() => write(silent));
  await waitUntil(() => clock.delays.includes(8000));
  expect(names()).toEqual(["ask"]);
  await change(() => write({ ...silent, packs: { deny: ["acme/*"] } }));
  await waitUntil(() => clock.delays.includes(8000));
  clock.advance(8000);
  await waitUntil(() => names().length === 0);
  writeFileSync(gate, "");
  await waitUntil(() => names().includes("silent_tell"));
});

test("a session that follows its project loads modules when it opens, in another process, and reports that if the config says otherwise", async () => {
  const marker = join(makeProject({}), "loaded");
  const module = `
    import { writeFileSync } from "node:fs";
    writeFileSync(${JSON.stringify(marker)}, "");
    export const ask = () => "loaded";`;
  const isolation = config({ isolation: "in-process" });
  const cwd = makeProject({ "@acme/ask": toolPack({ ask: {} }, module) }, isolation);
  const { session } = await openFollowed(cwd);
  expect(session.problems).toMatchObject([{ code: "IsolationOverridden", severity: "warning" }]);
  await waitUntil(() => existsSync(marker));
  rmSync(join(cwd, "node_modules/@acme/ask/handlers.js"));
  expect(await session.callTool("ask")).toMatchObject({ message: "loaded" });
});

test("a process that exits while it only loads code ends nothing: the next call starts another", async () => {
  const module = `
    import { existsSync, writeFileSync } from "node:fs";
    if (!existsSync("tried")) { writeFileSync("tried", String(process.pid)); process.exit(1); }
    export const ask = () => "answered";`;
  const cwd = makeProject({ "@acme/ask": toolPack({ ask: {} }, module) }, config({}));
  const { session } = await openFollowed(cwd);
  const tried = join(cwd, "node_modules/@acme/ask/tried");
  // Until its exit has been noticed.
  const isThere = () => attempt(() => process.kill(Number(readFileSync(tried, "utf8")), 0));
  await waitUntil(() => existsSync(tried) && isThere() === undefined);
  await expect.poll(() => session.callTool("ask")).toMatchObject({ message: "answered" });
  expect(session.problems).toEqual([]);
});

test("what a server lists while states are created joins the latest reading of the project, not the one before", async () => {
  const session = await openForTest(makeProject({}));
  const { states } = Session.frameOf(session);
  const before = states.current?.parts.reading as ProjectReading;
  const after = { ...before };
  void states.publish(before);
  states.onListed();
  await states.publish(after);
  // Settles after all of them.
  await states.onStarted({} as SessionServer);
  expect(states.current?.parts.reading).toBe(after);
});
