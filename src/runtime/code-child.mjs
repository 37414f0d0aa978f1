// The program of the child process that runs a pack's code with `isolation: process`. The pack's code can do anything to
// this process, which contains accidents, not attacks: the host takes its messages as they are.
import { createContext, findFunction, freeze, runCode, runInitialize } from "./handler-code.mjs";
import { describeThrown } from "./returned-value.mjs";

const root = process.cwd();
const exit = process.exit.bind(process);
const post = process.send.bind(process);
// Packages ask for it to find out whether they were forked by themselves.
delete process.send;

/** Without the channel, no call can be answered. */
const send = (message) => post(message, (error) => error && exit(1));

const calls = new Map();

/** The call's copy of the memory. Its writes go to the host with the next message. */
function createMemory(call) {
  return {
    get: (key) => call.memory.get(key),
    set(key, value) {
      call.memory.set(key, value);
      call.writes.push([key, value]);
    },
    delete(key) {
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

const find = (source) => findFunction({ root, source });

async function runCall(message) {
  const { id, memory, source, args, legacyContext } = message;
  if (legacyContext !== undefined)
    Object.defineProperty(args, "_trailblazeContext", { value: legacyContext, configurable: true });
  const controller = new AbortController();
  const entries = memory === null ? [] : Object.entries(memory);
  const call = { id, controller, memory: new Map(entries), writes: [], answers: new Map(), toolCalls: 0 };
  calls.set(id, call);
  const context = createCallContext(call, message);
  const outcome = await runCode(() => find(source), args, context, controller.signal);
  calls.delete(id);
  send({ kind: "done", id, outcome, writes: takeWrites(call) });
  for (const { reject } of call.answers.values()) reject(new Error("The call has ended."));
}

const tried = new WeakMap();

async function initialize({ id, source, options }) {
  const context = Object.freeze({ options: freeze(options) });
  const outcome = await runInitialize(() => find(source), context, tried);
  send({ kind: "done", id, outcome, writes: [] });
}

async function runLoad({ id, source }) {
  const outcome = await runCode(async () => {
    await find(source);
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
  calls.get(id)?.controller.abort(new DOMException(reason, "AbortError"));
}

const actions = { load: runLoad, call: runCall, initialize, answer: takeAnswer, abort };

// Only the pack's code runs here, so every late error is its own.
const reportLate = (thrown) => send({ kind: "late", message: describeThrown(thrown).message });
process.on("uncaughtException", reportLate);
process.on("unhandledRejection", reportLate);

process.on("message", (message) => void actions[message.kind](message));
// The host has exited, or closes the session.
process.on("disconnect", () => exit(0));
