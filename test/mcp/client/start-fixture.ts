import { afterEach, expect } from "vitest";
import type { Introduction, Server } from "../../../src/mcp/client/server.ts";
import type { ServerCallError, ServerEvents, ServerLaunch } from "../../../src/mcp/client/server-calls.ts";
import { type ServerLimits, type StartOptions, startServer } from "../../../src/mcp/client/start-server.ts";
import { TrailblazeError } from "../../../src/problems/index.ts";
import { createProcessPort } from "../../../src/processes/server-process.ts";
import { isRunning } from "../../support/processes.ts";
import { inRepository } from "../../support/repository.ts";
import { listsOf } from "../remote/start-remote.ts";

export const fixture = inRepository("test/mcp/client/fixtures/server.mjs");

export interface Reports {
  noise: string[];
  invalid: [string, string, string][];
  failed: [string, string][];
  keys: [string, string, string, string][];
  results: string[];
  log: unknown[];
  listChanges: string[];
}

/** A server that is ready, with what it says. */
export type Started = Omit<Server, "ready"> & Introduction & ReturnType<typeof listsOf>;

const started: { close(): Promise<void> }[] = [];
const pids: number[] = [];

/** Waits until the process is gone. */
export async function expectGone(pid: number): Promise<void> {
  await expect.poll(() => isRunning(pid), { interval: 20 }).toBe(false);
}

export interface FixtureOptions {
  launch?: Partial<ServerLaunch>;
  limits?: Partial<ServerLimits>;
  inputMs?: number;
}

/** Starts the fixture with its own options (see there); what it leaves behind fails the test. */
export function startFixture(
  options: object = {},
  given: FixtureOptions = {},
): { ready: Promise<Started & { pid: number }>; reports: Reports; close(): Promise<void> } {
  const launch: ServerLaunch = {
    label: "fixture",
    command: process.execPath,
    args: [fixture, JSON.stringify(options)],
    cwd: inRepository("."),
    env: {},
    logFile: undefined,
    secrets: () => [],
    timeouts: { handshakeMs: 20_000, listMs: 20_000 },
    protocol: "auto",
    ...given.launch,
  };
  const reports: Reports = {
    noise: [],
    invalid: [],
    failed: [],
    keys: [],
    results: [],
    log: [],
    listChanges: [],
  };
  const events: ServerEvents = {
    onStdoutNoise: (line) => reports.noise.push(line),
    onListChanged: (capability) => reports.listChanges.push(capability),
    onLeftOut: ({ method, name, key, reason }) => reports.results.push(`${method} ${name} ${key}: ${reason}`),
    onLog: (entry) => reports.log.push(entry),
  };
  const processes = createProcessPort({ termMs: 400 });
  let pid = 0;
  const port: StartOptions["processes"] = {
    ...processes,
    async start(wanted) {
      const child = await processes.start(wanted);
      ({ pid } = child);
      pids.push(pid);
      return child;
    },
  };
  // Long enough for a loaded machine, short enough for a test.
  const means: StartOptions = { processes: port, inputMs: given.inputMs ?? 2000 };
  if (given.limits !== undefined) means.limits = given.limits;
  const starting = startServer(launch, events, means);
  const close = () => starting.then((server) => server.close()).catch(() => {});
  started.push({ close });
  const start = async () => {
    const server = await starting;
    const said = await server.ready;
    for (const { list, name, key, reason } of said.leftOut)
      if (name === undefined) reports.failed.push([list, reason]);
      else if (key === undefined) reports.invalid.push([list, name, reason]);
      else reports.keys.push([list, name, key, reason]);
    return Object.assign(server, said, listsOf(said), { pid });
  };
  const ready = start();
  ready.catch(() => {});
  return { ready, reports, close };
}

/** The problem that a start ends with; nothing of the server may run any more by then. */
export async function problemOf(options: object, given: FixtureOptions = {}) {
  const error = await startFixture(options, given).ready.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(TrailblazeError);
  for (const pid of pids) expect(isRunning(pid)).toBe(false);
  const { problem } = error as TrailblazeError;
  if (problem.code !== "ServerStartFailed") throw error;
  expect(problem.args.label).toBe("fixture");
  return problem;
}

/** Why a server does not start; of one that the host ended, why it did. */
export const reasonOf = ({ args }: Awaited<ReturnType<typeof problemOf>>) =>
  ("exit" in args ? args.exit.reason : args.reason) ?? "";

export const call = (name: string, args: Record<string, unknown> = {}, _meta: Record<string, unknown> = {}) =>
  ({ name, arguments: args, _meta }) as const;

/** The error of a call that fails. */
export const outcome = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error as ServerCallError,
  );

afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.close()));
  for (const pid of pids.splice(0)) await expectGone(pid);
});
