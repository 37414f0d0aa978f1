// A process that runs a pack's handlers one after the other, for tests of what becomes of it when they throw late.
// Prints what was reported; then throws what is no pack's, if it is asked to.
import { writeSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { createInProcessRunner } from "../../src/runtime/in-process-runner.ts";
import { waitUntil } from "../support/wait-until.ts";
import { callCode, createContext } from "./run-place.ts";

interface Request {
  root: string;
  names: string[];
  own?: "throw" | "log";
  trusted?: boolean;
}

const { root, names, own, trusted = false } = JSON.parse(process.argv[2] ?? "{}") as Request;
const reported: string[] = [];
const runner = createInProcessRunner({ root, trusted, onLateError: (message) => reported.push(message) });
const throwLater = () =>
  void setTimeout(() => {
    throw new Error("the host's own");
  }, 1);

for (const name of names) {
  const context = createContext({
    log: () => own === "log" && throwLater(),
    callTool: async () => {
      throw new Error("tool refused");
    },
  });
  const before = reported.length;
  await callCode(runner, { root, source: { from: "module", handler: `./late.mjs#${name}` } }, {}, context);
  await waitUntil(() => reported.length > before);
}
await runner.close();
writeSync(1, `${JSON.stringify({ reported, listeners: process.listenerCount("uncaughtException") })}\n`);
if (own === "throw") throwLater();
// Proves that nothing ends the process: what is thrown above would have done so by now.
await delay(100);
writeSync(1, "alive\n");
