// The program of the child that runs a pack's code with `isolation: process`. The host starts it and talks with it in
// lines of JSON, on the two descriptors that are its arguments. The pack's code runs here as it would in the host; what
// it does to this process is its own affair, so nothing that comes from here is believed by the host.
import { Socket } from "node:net";
import { Readable } from "node:stream";
import { LineDecoder } from "./line-decoder.mjs";
import { loadFunction } from "./module-loader.mjs";
import {
  checkProgress,
  describeReturned,
  describeThrown,
  toArgumentsJson,
  toLogData,
} from "./returned-value.mjs";

const [input = 0, output = 1] = process.argv.splice(2).map(Number);
const incoming = new Socket({ fd: input, readable: true, writable: false });
const outgoing = new Socket({ fd: output, readable: false, writable: true });
const exit = process.exit.bind(process);

if (output === 1) {
  // Where no shell could give the pack other streams.
  const { stderr } = process;
  Object.defineProperty(process, "stdout", { configurable: true, get: () => stderr });
  Object.defineProperty(process, "stdin", { configurable: true, value: Readable.from([]) });
}

let root;
let limit = Number.POSITIVE_INFINITY;

/** The text of a message; parts that are JSON already are not written anew. */
function send(message, rawName, raw) {
  let line = JSON.stringify(message);
  if (raw !== undefined) line = `${line.slice(0, -1)},${JSON.stringify(rawName)}:${raw}}`;
  outgoing.write(`${line}\n`);
}

const calls = new Map();

function freezeAll(value) {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) freezeAll(inner);
  return value;
}

function viewMemory(call) {
  const checkTexts = (...texts) => {
    if (texts.every((text) => typeof text === "string")) return;
    throw new TypeError("Memory holds texts by keys that are texts.");
  };
  return Object.freeze({
    get: (key) => call.memory.get(key),
    set(key, value) {
      checkTexts(key, value);
      call.memory.set(key, value);
      call.writes.push([key, value]);
    },
    delete(key) {
      checkTexts(key);
      call.writes.push([key, null]);
      return call.memory.delete(key);
    },
  });
}

function takeWrites(call) {
  const { writes } = call;
  call.writes = [];
  return writes;
}

function createContext(call, { options, extras, memory }) {
  const { id } = call;
  return Object.freeze({
    signal: call.controller.signal,
    options: freezeAll(options),
    log(level, data) {
      const logged = toLogData(data);
      if (calls.has(id)) send({ kind: "log", id, level: String(level) }, "data", JSON.stringify(logged));
    },
    async progress(progress, total, message) {
      checkProgress(progress, total, message);
      if (calls.has(id)) send({ kind: "progress", id, progress, total, message });
    },
    async callTool(name, args) {
      const json = toArgumentsJson(args);
      if (!calls.has(id)) throw new Error("The call has ended, and calls no other tool.");
      const number = ++call.toolCalls;
      const answer = new Promise((resolve, reject) => call.answers.set(number, { resolve, reject }));
      send({ kind: "callTool", id, number, name: String(name), writes: takeWrites(call) }, "args", json);
      return await answer;
    },
    ...freezeAll(extras),
    ...(memory === null ? {} : { memory: viewMemory(call) }),
  });
}

const loaded = new Map();

async function load(source) {
  const key = JSON.stringify(source);
  const known = loaded.get(key) ?? (await loadFunction({ root, source }));
  loaded.set(key, known);
  return known;
}

async function runHandler(call, message) {
  try {
    const handler = await load(message.source);
    call.controller.signal.throwIfAborted();
    const { args, hidden } = message;
    if (hidden !== undefined)
      Object.defineProperty(args, hidden.name, { value: hidden.value, configurable: true });
    const returned = describeReturned(await handler(args, createContext(call, message)));
    const size = Buffer.byteLength(returned.json ?? returned.text ?? "");
    // As JSON inside JSON it may take twice the room.
    if (size * 2 < limit) return { returned };
    return {
      returned: {
        kind: "refused",
        message: `The handler returned ${size} bytes; with \`isolation: process\`, the limit is ${Math.floor(limit / 2)} bytes.`,
      },
    };
  } catch (thrown) {
    return { thrown: describeThrown(thrown) };
  }
}

async function runCall(message) {
  const { id, memory } = message;
  const controller = new AbortController();
  const entries = memory === null ? [] : Object.entries(memory);
  const call = { id, controller, memory: new Map(entries), writes: [], answers: new Map(), toolCalls: 0 };
  calls.set(id, call);
  const outcome = await runHandler(call, message);
  calls.delete(id);
  send({ kind: "done", id, outcome, writes: takeWrites(call) });
  for (const { reject } of call.answers.values()) reject(new Error("The call has ended."));
}

async function runInitialize({ id, source, options }) {
  let outcome;
  try {
    const initialize = await load(source);
    await initialize(Object.freeze({ options: freezeAll(options) }));
    outcome = { returned: { kind: "nothing" } };
  } catch (thrown) {
    outcome = { thrown: describeThrown(thrown) };
  }
  send({ kind: "done", id, outcome, writes: [] });
}

function takeAnswer({ id, number, value, fault, memory }) {
  const call = calls.get(id);
  const waiting = call?.answers.get(number);
  if (waiting === undefined) return;
  call.answers.delete(number);
  // What the tool has written, and what this handler has written while it ran.
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
  limit = message.limit;
  // Shells add some of their own.
  const names = new Set(message.names);
  for (const name of Object.keys(process.env)) if (!names.has(name)) delete process.env[name];
}

const actions = { start, call: runCall, initialize: runInitialize, answer: takeAnswer, abort };

// Nothing but the pack's code runs here, so it is its own late errors that come.
const reportLate = (thrown) => send({ kind: "late", message: describeThrown(thrown).message });
process.on("uncaughtException", reportLate);
process.on("unhandledRejection", reportLate);

// Without its host it has nothing to do.
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
