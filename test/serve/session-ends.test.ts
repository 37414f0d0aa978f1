// How the built command ends a served session. Every process ends with its test.
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { post } from "../mcp/http/served.ts";
import { headersFor, modernCall } from "../mcp/modern/modern-served.ts";
import { makeProject, probe, toolPack } from "../session/support/session.ts";
import { runMain } from "../support/main.ts";
import { collect, isRunning, readPids } from "../support/processes.ts";
import { command } from "../support/run-cli.ts";
import { waitUntil } from "../support/wait-until.ts";

const request = (id: number, method: string, params: object = {}) =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
const initialize = request(1, "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "tester", version: "1.0.0" },
});

const pack = toolPack(
  { who: {}, slow: {} },
  `import { appendFileSync, existsSync } from "node:fs";
appendFileSync(new URL("../../pids", import.meta.url), process.pid + "\\n");
export const who = () => process.pid;
export const slow = async () => {
  appendFileSync(new URL("../../called", import.meta.url), "called");
  while (!existsSync(new URL("../../go", import.meta.url)))
    await new Promise((resolve) => setTimeout(resolve, 10));
  return "finished";
};`,
);

/** A session with a server and a pack, which run in processes of their own; their IDs are in the file `pids`. */
function startSession(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const cwd = makeProject({ own: pack });
  const pids = join(cwd, "pids");
  const config = {
    logDir: "logs",
    trailblazeSubprocessToolsets: [probe("probe", { PROBE_PIDS: pids, ...env })],
  };
  writeFileSync(join(cwd, "trailblaze.config.json"), JSON.stringify(config));
  const child = spawn(process.execPath, [command, "start", ...args], { cwd });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = new Promise<[code: number | null, signal: string | null]>((resolve) => {
    child.once("close", (code, signal) => resolve([code, signal]));
  });
  return { child, pids, ended, stdout: collect(child.stdout), stderr: collect(child.stderr) };
}

type Started = ReturnType<typeof startSession>;

test("the end of stdin ends a served session while its server is starting", async () => {
  const started = startSession([], { PROBE_GATE: "/nonexistent/gate" });
  started.child.stdin.write(initialize);
  await waitUntil(() => readPids(started.pids).length > 0);
  started.child.stdin.end();
  expect(await started.ended).toEqual([0, null]);
  await waitUntil(() => !readPids(started.pids).some(isRunning));
});

const finish = ({ pids }: Started) => writeFileSync(join(dirname(pids), "go"), "");

/** A session over stdio with a call of `slow` under way. */
async function startCall(...args: string[]) {
  const started = startSession(args);
  started.child.stdin.write(initialize + request(2, "tools/list"));
  await waitUntil(() => started.stdout().includes('"id":2'));
  started.child.stdin.write(request(3, "tools/call", { name: "slow", arguments: {} }));
  await waitUntil(() => existsSync(join(dirname(started.pids), "called")));
  return started;
}

/** The processes of a session, once all of them run. */
async function processesOf({ pids }: Started): Promise<number[]> {
  await waitUntil(() => readPids(pids).length === 2);
  expect(readPids(pids).every(isRunning)).toBe(true);
  return readPids(pids);
}

test("over stdio, the end of stdin lets a call finish, and ends all processes with exit code 0", async () => {
  const started = await startCall();
  const pids = await processesOf(started);
  started.child.stdin.end();
  finish(started);
  expect(await started.ended).toEqual([0, null]);
  await waitUntil(() => !pids.some(isRunning));
  expect(started.stdout()).toContain("finished");
});

/** A session over HTTP that is ended by SIGTERM while a call of `slow` is under way, once it has become unhealthy. */
async function startEnding(...args: string[]) {
  const started = startSession(["--http", "0", "--health", ...args]);
  await waitUntil(() => /http:\S+\n/.test(started.stderr()));
  const [url = ""] = /http:\S+/.exec(started.stderr()) ?? [];
  const message = modernCall("slow");
  const slow = post({ url }, message, headersFor(message));
  slow.catch(() => {});
  await waitUntil(() => existsSync(join(dirname(started.pids), "called")));
  const pids = await processesOf(started);
  started.child.kill("SIGTERM");
  await expect.poll(async () => (await fetch(new URL("/healthz", url))).status).toBe(503);
  return { ...started, slow, running: pids };
}

test("over HTTP, SIGTERM lets a call finish while probes get 503, and ends all processes with exit code 0", async () => {
  const started = await startEnding();
  finish(started);
  expect(await (await started.slow).json()).toMatchObject({ result: { content: [{ text: "finished" }] } });
  expect(await started.ended).toEqual([0, null]);
  await waitUntil(() => !started.running.some(isRunning));
});

test("a call that takes longer than --drain is aborted", async () => {
  const started = await startCall("--drain", "0");
  started.child.kill("SIGINT");
  expect(await started.ended).toEqual([0, null]);
  expect(started.stdout()).not.toContain("finished");
});

test("a second signal ends a served session although a call is under way", async () => {
  const started = await startEnding("--drain", "600");
  started.child.kill("SIGINT");
  expect(await started.ended).toEqual([0, null]);
});

test("--health is refused where it cannot apply", async () => {
  const { exitCode, stderr } = await runMain(["start", "--stdio", "--health"], { cwd: makeProject({}) });
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--health applies only to HTTP")]);
});

const deaf = {
  "package.json": { trailblaze: { servers: ["deaf"] } },
  "trailblaze/servers/deaf.json": { script: "./deaf.mjs" },
  "deaf.mjs": `process.stdin.on("end", () => console.log("ended")).resume();
setInterval(() => {}, 1000);
console.log(process.pid);`,
};

test.each<[string, string, (started: ReturnType<typeof spawn>) => void]>([
  ["the end of its input", "0", ({ stdin }) => stdin?.end()],
  [
    "a second signal",
    "600",
    (child) => {
      child.kill("SIGTERM");
      // Until the first signal has arrived: the program's own input ends with it.
      child.stdout?.once("data", () => child.kill("SIGINT"));
    },
  ],
])("a program that runs as it is and goes on is ended after %s", async (_, drain, end) => {
  const cwd = makeProject({ own: deaf });
  const child = spawn(process.execPath, [command, "start", "own/deaf", "--drain", drain], { cwd });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = new Promise((resolve) => child.once("close", (...end) => resolve(end)));
  const pid = await new Promise<string>((resolve) => child.stdout.once("data", (text) => resolve(`${text}`)));
  end(child);
  expect(await ended).toEqual([0, null]);
  expect(isRunning(Number(pid))).toBe(false);
});
