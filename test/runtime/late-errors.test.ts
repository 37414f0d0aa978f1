import { describe, expect, test } from "vitest";
import { inRepository } from "../support/repository.ts";
import { runProcess } from "../support/run-process.ts";
import { makePack } from "./make-pack.ts";

const late = `
import { EventEmitter } from "node:events";
import { readFile } from "node:fs";
import { connect } from "node:net";

export const timer = () => { setTimeout(() => { throw new Error("timer") }, 5) };
export const immediate = () => { setImmediate(() => { throw new Error("immediate") }) };
export const tick = () => { process.nextTick(() => { throw "tick" }) };
export const rejection = () => { Promise.reject(new Error("rejection")) };
export const reasonless = () => { Promise.reject() };
export const timedRejection = () => { setTimeout(async () => { await null; throw new Error("timed rejection") }, 5) };
export const emitter = () => { setTimeout(() => new EventEmitter().emit("error", new Error("emitter")), 5) };
export const callback = () => { readFile("/there/is/no/such/file", () => { throw new Error("callback") }) };
export const socket = () => { connect({ path: "/there/is/no/such/socket" }) };
export const derived = async () => {
  let reject;
  const promise = new Promise((_, no) => { reject = no });
  promise.then(() => 1);
  setTimeout(() => reject(new Error("derived")), 5);
};
export const forgottenTool = (_, { callTool }) => { callTool("x") };
export const logs = (_, { log }) => { log("info", 1) };
export const hostile = () => { setTimeout(() => { throw new Proxy({}, { get() { throw 1 } }) }, 5) };
export const rejectedLater = async () => { setTimeout(() => { throw new Error("while throwing") }, 1); throw new Error("result") };
`;

async function runHost(request: object) {
  const root = makePack({ "late.mjs": late, "import.mjs": "" });
  const script = inRepository("test/runtime/late-error-host.ts");
  const args = ["--import", import.meta.resolve("tsx"), script, JSON.stringify({ root, ...request })];
  const { stdout, stderr, exitCode } = await runProcess(process.execPath, args, {
    cwd: root,
    env: process.env,
    timeoutMs: 60_000,
  });
  const [first = "{}", ...rest] = stdout.split("\n");
  const printed = JSON.parse(first === "" ? "{}" : first) as { reported?: string[]; listeners?: number };
  return { ...printed, isAlive: rest.includes("alive"), exitCode, stderr };
}

describe("an error that a handler throws after its call", () => {
  test("a late error is reported and does not end the host", async () => {
    const expected: Record<string, unknown> = {
      timer: "timer",
      immediate: "immediate",
      tick: "tick",
      rejection: "rejection",
      reasonless: expect.stringContaining("undefined"),
      timedRejection: "timed rejection",
      emitter: "emitter",
      callback: "callback",
      socket: expect.stringContaining("ENOENT"),
      derived: "derived",
      forgottenTool: "tool refused",
      hostile: "The handler failed.",
      rejectedLater: "while throwing",
    };
    const { reported, isAlive, exitCode, listeners } = await runHost({ names: Object.keys(expected) });
    expect(reported).toEqual(Object.values(expected));
    expect({ isAlive, exitCode, listeners }).toEqual({ isAlive: true, exitCode: 0, listeners: 0 });
  });

  test.each([
    ["throws", "throw", ["timer"]],
    ["throws in what a handler called to log", "log", ["logs"]],
  ])(
    "a late error does not prevent the host from ending if the host itself %s",
    async (_what, own, names) => {
      const { isAlive, exitCode, stderr } = await runHost({ names, own });
      expect({ isAlive, exitCode }).toEqual({ isAlive: false, exitCode: 1 });
      expect(stderr).toContain("Error: the host's own");
    },
  );

  test("a late error in the host's own code ends the host", async () => {
    const { isAlive, exitCode, stderr } = await runHost({ names: ["timer"], trusted: true });
    expect({ isAlive, exitCode }).toEqual({ isAlive: false, exitCode: 1 });
    expect(stderr).toContain("Error: timer");
  });
});
