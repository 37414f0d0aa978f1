// Loads and runs packs' handlers, and reads what they return or throw. Plain JavaScript, because both the host and the child
// process of `isolation: process` (code-child.mjs) use it, so that a tool answers the same in either. This is the host's only
// `import()` of a pack's code.
import { once } from "node:events";
import { realpathSync, statSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { types } from "node:util";

/** The module or its export is missing or invalid; the message is a sentence. `code` is the problem's code. */
class HandlerNotFoundError extends Error {
  name = "HandlerNotFoundError";
  code = "HandlerNotFound";
}

const quote = (text) => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);

/** The real path of a module. Throws unless it is a file inside the real `root`. */
function locate(root, file) {
  let realRoot;
  let path;
  try {
    realRoot = realpathSync.native(root);
    path = realpathSync.native(resolve(realRoot, file));
  } catch {
    // One of them does not exist.
  }
  if (path === undefined || !statSync(path).isFile())
    throw new HandlerNotFoundError(`Module ${quote(file)} not found in the package.`);
  const way = relative(realRoot, path);
  if (way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way)) {
    throw new HandlerNotFoundError(`Module ${quote(file)} is outside the package.`);
  }
  return path;
}

const own = (object, key) =>
  ((typeof object === "object" && object !== null) || typeof object === "function") &&
  Object.hasOwn(object, key)
    ? object[key]
    : undefined;

/** The default export; for a module compiled to CommonJS, the one inside it. */
function defaultOf(namespace) {
  const exported = own(namespace, "default");
  return own(exported, "__esModule") === true ? own(exported, "default") : exported;
}

function exportOf(namespace, name) {
  if (name === "default") return defaultOf(namespace);
  // Node does not always detect the names that a CommonJS module exports.
  return Object.hasOwn(namespace, name) ? namespace[name] : own(namespace.default, name);
}

/**
 * Loads a module and returns the function that a place names. Rejects with a `HandlerNotFoundError`, or with what the
 * module throws while it loads.
 */
async function loadFunction(root, { file, path }) {
  const [name, ...keys] = path;
  const module = await import(/* @vite-ignore */ pathToFileURL(locate(root, file)).href);
  const found = keys.reduce(own, exportOf(module, name));
  if (typeof found === "function") return found;
  const named = name === "default" ? "default export" : `export ${quote(name)}`;
  const what = keys.length === 0 ? named : `${quote(keys.join("."))} in its default export`;
  const kind = found === undefined ? "" : " that is a function";
  throw new HandlerNotFoundError(`Module ${quote(file)} has no ${what}${kind}.`);
}

/** What was loaded in this process, by places. */
const loaded = new Map();

/** The function that a place names, or a promise of it if it is not loaded. */
export function findFunction(root, place) {
  if (place.run !== undefined) return place.run;
  const key = JSON.stringify([root, place]);
  const load = async () => {
    const run = await loadFunction(root, place);
    loaded.set(key, run);
    return run;
  };
  return loaded.get(key) ?? load();
}

/** A value as JSON text, as `{ json }`, or why it has none, as `{ refusal }`, which continues "it". Never throws. */
function toJson(value) {
  try {
    const json = JSON.stringify(value);
    return json === undefined ? { refusal: `is a ${typeof value}` } : { json };
  } catch (thrown) {
    // Node's message for a value that contains itself has several lines.
    return { refusal: `cannot be written: ${describeThrown(thrown).message.split("\n", 1)[0]}` };
  }
}

/** Marks the values of `needInput` of every copy of @trailblaze/scripting. Data from elsewhere cannot have it. */
const needsInput = Symbol.for("trailblaze.needInput");

/** Bytes in base64; `undefined` for any other value. */
function toBase64(value) {
  try {
    if (ArrayBuffer.isView(value))
      return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
    return types.isAnyArrayBuffer(value) ? Buffer.from(value).toString("base64") : undefined;
  } catch {
    return undefined;
  }
}

/** What a handler returned, as a `Returned`. Never throws. */
export function describeReturned(value) {
  if (value === undefined) return { kind: "nothing" };
  if (typeof value === "string") return { kind: "text", text: value };
  const bytes = toBase64(value);
  const { json, refusal } =
    bytes !== undefined
      ? { refusal: "is binary data" }
      : types.isNativeError(value)
        ? { refusal: "is an Error" }
        : toJson(value);
  if (json !== undefined) return { kind: value && read(value, needsInput) === true ? "input" : "json", json };
  return {
    kind: "refused",
    message: `The handler returned a value that JSON cannot represent: it ${refusal}.`,
    bytes,
  };
}

/** A property of a hostile object; `undefined` if reading it throws. */
function read(object, key) {
  try {
    return object[key];
  } catch {
    return undefined;
  }
}

/** What was thrown, as a `Thrown`, without a stack. Never throws. */
export function describeThrown(thrown) {
  if (typeof thrown === "string") return { message: thrown };
  if (typeof thrown !== "object" || thrown === null) {
    return { message: `The handler threw ${thrown === null ? "null" : `a value of type ${typeof thrown}`}.` };
  }
  const isSaid = (text) => typeof text === "string" && text !== "";
  const texts = [read(thrown, "message"), read(thrown, "name")];
  const described = { message: texts.find(isSaid) ?? "The handler failed." };
  const code = read(thrown, "code");
  if (typeof code === "string" || (typeof code === "number" && Number.isFinite(code))) described.code = code;
  const data = read(thrown, "data");
  const { json } = data === undefined ? {} : toJson(data);
  if (json !== undefined) described.data = json;
  return described;
}

/** What a handler logs, as data: for an error its message, for a value that JSON cannot represent a placeholder. */
function toLogData(value) {
  if (types.isNativeError(value)) return describeThrown(value).message;
  const json = value === undefined ? "null" : toJson(value).json;
  return json === undefined ? "(not representable as JSON)" : JSON.parse(json);
}

/** The arguments with which a handler calls another tool, as JSON text. Throws a `TypeError` for the handler. */
function toArgumentsJson(args) {
  const { json, refusal } = toJson(args ?? {});
  if (json === undefined) throw new TypeError(`Arguments must be JSON, but the value ${refusal}.`);
  if (!json.startsWith("{")) throw new TypeError("Arguments must be an object.");
  return json;
}

/** Freezes JSON, and returns it. */
function freeze(value) {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) freeze(inner);
  return value;
}

const frozen = new WeakMap();

/** A frozen copy of JSON, which handlers share. */
function freezeCopy(data) {
  if (typeof data !== "object" || data === null) return data;
  const copy = frozen.get(data) ?? freeze(structuredClone(data));
  frozen.set(data, copy);
  return copy;
}

function checkStrings(...values) {
  if (values.every((value) => typeof value === "string")) return;
  throw new TypeError("Keys and values of memory must be strings.");
}

/** The memory as a handler sees it: with its own writes, which `memory` gets, too. */
function createMemory(memory, isOver) {
  const written = new Map();
  const get = (key) => (written.has(key) ? written.get(key) : memory.get(key));
  const write = (key, value) => {
    if (isOver()) return;
    written.set(key, value);
    memory.write(key, value);
  };
  return Object.freeze({
    get,
    set(key, value) {
      checkStrings(key, value);
      write(key, value);
    },
    delete(key) {
      checkStrings(key);
      const had = !isOver() && get(key) !== undefined;
      write(key, undefined);
      return had;
    },
  });
}

const dataKeys = ["options", "sessionId", "invocationId", "device", "input", "state", "arguments"];

/** The handler's context of a run's. What the handler does reaches `run` as JSON, and no more once the call `isOver`. */
export function createContext(run, isOver) {
  const context = {
    // A signal costs as much as the rest of a call, so a `CallStop` creates it when it is read.
    get signal() {
      return run.signal.signal ?? run.signal;
    },
    log(level, data) {
      if (!isOver()) run.log(String(level), toLogData(data));
    },
    // Async, so that handlers can await it.
    async progress(progress, total, message) {
      if (![progress, total ?? 0].every(Number.isFinite) || typeof (message ?? "") !== "string")
        throw new TypeError(
          "Call progress with a number, and optionally a number as total and a string as message.",
        );
      if (!isOver()) run.progress(progress, total ?? undefined, message ?? undefined);
    },
    async callTool(name, args) {
      const json = toArgumentsJson(args);
      if (isOver()) throw new Error("The call has ended, so it cannot call other tools.");
      return await run.callTool(String(name), json);
    },
  };
  for (const key of dataKeys) if (run[key] !== undefined) context[key] = freezeCopy(run[key]);
  if (run.changed !== undefined) context.changed = () => void (isOver() || run.changed());
  if (run.memory !== undefined) context.memory = createMemory(run.memory, isOver);
  return Object.freeze(context);
}

/**
 * Runs a function of a pack, which `find` returns or promises; what it returned or threw, as data. Never throws. `stop` cancels
 * it before it begins. A watch, whose context has `changed`, runs until its signal aborts, also if it returns before.
 */
export async function runCode(find, args, context, stop) {
  try {
    const found = find();
    const run = typeof found === "function" ? found : await found;
    stop?.throwIfAborted();
    const returned = describeReturned(await run(args, context));
    if (context?.changed !== undefined && !context.signal.aborted) await once(context.signal, "abort");
    return { returned };
  } catch (thrown) {
    return { thrown: describeThrown(thrown) };
  }
}

/** What was initialized in this process, by functions. */
const initialized = new WeakMap();

/**
 * Runs an `initialize` function once. What it returns, such as a connection, is not read. `tried` has what one runner initialized:
 * after a failure, only another one tries again.
 */
export const runInitialize = (find, options, tried) =>
  runCode(async () => {
    const run = await find();
    const context = Object.freeze({ options: freezeCopy(options) });
    const initialize = async () => void (await run(context));
    if (!tried.has(run)) {
      const running = initialized.get(run) ?? initialize();
      tried.set(run, running);
      initialized.set(run, running);
      running.catch(() => initialized.delete(run));
    }
    return () => tried.get(run);
  });
