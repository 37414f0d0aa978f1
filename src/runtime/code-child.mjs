// The program of the child process that runs a pack's code with `isolation: process`. It exchanges lines of JSON with
// the host on the two descriptors that are its arguments. The pack's code can do anything to this process, which
// contains accidents, not attacks: the host takes its messages as they are.
import { Socket } from "node:net";
import { Readable } from "node:stream";
import { createContext, freeze, loadFunction, runCode, runInitialize } from "./handler-code.mjs";
import { LineDecoder } from "./line-decoder.mjs";
import { describeThrown } from "./returned-value.mjs";

const [input = 0, output = 1] = process.argv.splice(2).map(Number);
const incoming = new Socket({ fd: input, readable: true, writable: false });
const outgoing = new Socket({ fd: output, readable: false, writable: true });
const exit = process.exit.bind(process);

if (output === 1) {
  // On Windows, where no shell redirects the standard streams.
  const { stderr } = process;
  Object.defineProperty(process, "stdout", { configurable: true, get: () => stderr });
  Object.defineProperty(process, "stdin", { configurable: true, value: Readable.from([]) });
}

let root;

const send = (message) => void outgoing.write(`${JSON.stringify(message)}\n`);

const calls = new Map();

/** The call's copy of the memory. Its writes go to the host with the next message. */
function createMemory(call) {
  const checkStrings = (...values) => {
    if (values.every((value) => typeof value === "string")) return;
    throw new TypeError("Keys and values of memory must be strings.");
  };
  return {
    get: (key) => call.memory.get(key),
    set(key, value) {
      checkStrings(key, value);
      call.memory.set(key, value);
      call.writes.push([key, value]);
    },
    delete(key) {
      checkStrings(key);
      call.writes.push([key, null]);
      return call.memory.delete(key);
    },
  };
}

const takeWrites = (call) => call.writes.splice(0);

function createCallContext(call, { options, extras, memory, watches }) {
  const { id } = call;
  const host = {
    log: (level, data) => send({ kind: "log", id, level, data }),
    progress: (progress, total, message) => send({ kind: "progress", id, progress, total, message }),
    callTool(name, args) {
      const number = ++call.toolCalls;
      send({ kind: "callTool", id, number, name, args, writes: takeWrites(call) });
      return new Promise((resolve, reject) => call.answers.set(number, { resolve, reject }));
    },
    changed: watches ? () => send({ kind: "changed", id }) : undefined,
    memory: memory === null ? undefined : createMemory(call),
  };
  const context = createContext(freeze(options), host, () => !calls.has(id));
  return Object.freeze(Object.assign(context, { signal: call.controller.signal }, freeze(extras)));
}

const loaded = new Map();

async function load(source) {
  const key = JSON.stringify(source);
  const found = loaded.get(key) ?? (await loadFunction({ root, source }));
  loaded.set(key, found);
  return found;
}

async function runCall(message) {
  const { id, memory, source, args, legacyContext } = message;
  if (legacyContext !== undefined)
    Object.defineProperty(args, "_trailblazeContext", { value: legacyContext, configurable: true });
  const controller = new AbortController();
  const entries = memory === null ? [] : Object.entries(memory);
  const call = { id, controller, memory: new Map(entries), writes: [], answers: new Map(), toolCalls: 0 };
  calls.set(id, call);
  const context = createCallContext(call, message);
  const outcome = await runCode(() => load(source), args, context, controller.signal);
  calls.delete(id);
  send({ kind: "done", id, outcome, writes: takeWrites(call) });
  for (const { reject } of call.answers.values()) reject(new Error("The call has ended."));
}

async function initialize({ id, source, options }) {
  const outcome = await runInitialize(() => load(source), Object.freeze({ options: freeze(options) }));
  send({ kind: "done", id, outcome, writes: [] });
}

async function runLoad({ id, source }) {
  const outcome = await runCode(async () => {
    await load(source);
    return () => {};
  });
  send({ kind: "done", id, outcome, writes: [] });
}

function takeAnswer({ id, number, value, fault, memory }) {
  const call = calls.get(id);
  const waiting = call?.answers.get(number);
  if (waiting === undefined) return;
  call.answers.delete(number);
  // The tool's changes, then those that this handler made meanwhile.
  if (memory !== null) call.memory = new Map(Object.entries(memory));
  for (const [key, written] of call.writes) {
    if (written === null) call.memory.delete(key);
    else call.memory.set(key, written);
  }
  if (fault === undefined) waiting.resolve(value);
  else waiting.reject(new Error(fault));
}

function abort({ id, reason }) {
  send({ kind: "aborted", id });
  calls.get(id)?.controller.abort(new DOMException(reason, "AbortError"));
}

function start(message) {
  root = message.root;
  // Shells add variables of their own.
  const names = new Set(message.names);
  for (const name of Object.keys(process.env)) if (!names.has(name)) delete process.env[name];
}

const actions = { start, load: runLoad, call: runCall, initialize, answer: takeAnswer, abort };

// Only the pack's code runs here, so every late error is its own.
const reportLate = (thrown) => send({ kind: "late", message: describeThrown(thrown).message });
process.on("uncaughtException", reportLate);
process.on("unhandledRejection", reportLate);

// The host has exited.
outgoing.on("error", () => exit(0));
incoming.on("error", () => exit(0));
incoming.on("end", () => exit(0));
const decoder = new LineDecoder(Number.POSITIVE_INFINITY, {
  onLine(line) {
    const message = JSON.parse(line.toString());
    void actions[message.kind](message);
  },
  onTooLong() {},
});
incoming.on("data", (chunk) => decoder.push(chunk));
