// The program of the child process that runs a pack's code with `isolation: process`. The pack's code can do anything to
// this process, which contains accidents, not attacks: the host takes its messages as they are.
import { createContext, describeThrown, findFunction, runCode, runInitialize } from "./handler-code.mjs";

const root = process.cwd();
const exit = process.exit.bind(process);
const post = process.send.bind(process);
// Packages ask for it to find out whether they were forked by themselves.
delete process.send;

/** Without the channel, no call can be answered. */
const send = (message) => post(message, (error) => error && exit(1));

const calls = new Map();
const tried = new WeakMap();
const find = (place) => findFunction(root, place);

async function call({ id, place, args, legacyContext, data, memory, watches }) {
  if (legacyContext !== undefined)
    Object.defineProperty(args, "_trailblazeContext", { value: legacyContext, configurable: true });
  const controller = new AbortController();
  const open = {
    controller,
    memory: new Map(Object.entries(memory ?? {})),
    answers: new Map(),
    toolCalls: 0,
  };
  calls.set(id, open);
  const run = {
    ...data,
    signal: controller.signal,
    log: (level, data) => send({ kind: "log", id, level, data }),
    progress: (progress, total, message) => send({ kind: "progress", id, progress, total, message }),
    callTool(name, args) {
      const number = ++open.toolCalls;
      send({ kind: "callTool", id, number, name, args });
      return new Promise((resolve, reject) => open.answers.set(number, { resolve, reject }));
    },
    changed: watches ? () => send({ kind: "changed", id }) : undefined,
    memory: memory && {
      get: (key) => open.memory.get(key),
      write: (key, value) => send({ kind: "write", id, key, value }),
    },
  };
  const context = createContext(run, () => !calls.has(id));
  const outcome = await runCode(() => find(place), args, context, controller.signal);
  calls.delete(id);
  for (const { reject } of open.answers.values()) reject(new Error("The call has ended."));
  return outcome;
}

/** What the host asks. */
const handlers = {
  call,
  initialize: ({ place, options }) => runInitialize(() => find(place), options, tried),
  load: ({ place }) =>
    runCode(async () => {
      await find(place);
      return () => {};
    }),
  answer({ id, number, value, fault, memory }) {
    const call = calls.get(id);
    const waiting = call?.answers.get(number);
    if (waiting === undefined) return;
    call.answers.delete(number);
    if (memory !== undefined) call.memory = new Map(Object.entries(memory));
    if (fault === undefined) waiting.resolve(value);
    else waiting.reject(new Error(fault));
  },
  abort({ id, reason }) {
    calls.get(id)?.controller.abort(new DOMException(reason, "AbortError"));
  },
};

// Only the pack's code runs here, so every late error is its own.
const reportLate = (thrown) => send({ kind: "late", message: describeThrown(thrown).message });
process.on("uncaughtException", reportLate);
process.on("unhandledRejection", reportLate);

process.on("message", async (message) => {
  const { kind, id } = message;
  const outcome = await handlers[kind](message);
  if (outcome !== undefined) send({ kind: "done", id, outcome });
});
// The host has exited, or closes the session.
process.on("disconnect", () => exit(0));
