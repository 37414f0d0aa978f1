// What a handler returned or threw, as data. Plain JavaScript, because both the host and the child process of
// `isolation: process` (code-child.mjs) use it, so that a tool answers the same in either.
import { types } from "node:util";

/** The name of a kind of object that JSON would write as `{}` or as nonsense. */
function nameLost(value) {
  if (types.isProxy(value)) return undefined;
  if (types.isMap(value)) return "a Map";
  if (types.isSet(value)) return "a Set";
  if (types.isNativeError(value)) return "an Error";
  if (types.isPromise(value)) return "a Promise";
  if (types.isRegExp(value)) return "a RegExp";
  if (types.isWeakMap(value) || types.isWeakSet(value)) return "a weak collection";
  if (types.isAnyArrayBuffer(value) || ArrayBuffer.isView(value)) return "binary data";
  return undefined;
}

class Refusal extends Error {}

/** `JSON.stringify` calls a Buffer's own `toJSON` before the replacer sees it. */
const isWrittenBuffer = (holder, key, value) =>
  Object.getOwnPropertyDescriptor(value, "type")?.value === "Buffer" && ArrayBuffer.isView(holder[key]);

function refuseWhatJsonLoses(key, value) {
  if (typeof value === "bigint") throw new Refusal("a BigInt");
  if (typeof value !== "object" || value === null) return value;
  const name = isWrittenBuffer(this, key, value) ? "binary data" : nameLost(value);
  if (name !== undefined) throw new Refusal(name);
  return value;
}

const messageOf = (thrown) => {
  try {
    return thrown instanceof Error && typeof thrown.message === "string" ? thrown.message : "";
  } catch {
    return "";
  }
};

/** Why JSON cannot represent a value, continuing "it". */
function describeRefusal(thrown) {
  if (thrown instanceof Refusal) return `holds ${thrown.message}`;
  const message = messageOf(thrown);
  if (message.includes("circular structure")) return "contains itself";
  if (thrown instanceof RangeError) return "is too large or nested too deeply";
  return "throws when it is read";
}

/**
 * A value as JSON text, as `JSON.stringify` writes it, except that a value that would silently become `{}` is refused.
 * Returns `{ json }` or `{ refusal }`; never throws.
 */
export function toJson(value) {
  try {
    const json = JSON.stringify(value, refuseWhatJsonLoses);
    return json === undefined ? { refusal: `is a ${typeof value}` } : { json };
  } catch (thrown) {
    return { refusal: describeRefusal(thrown) };
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
  const { json, refusal } = bytes === undefined ? toJson(value) : { refusal: "holds binary data" };
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
  const message = read(thrown, "message");
  const name = read(thrown, "name");
  const isTold = typeof message === "string" && message !== "";
  const described = {
    message: isTold ? message : typeof name === "string" && name !== "" ? name : "The handler failed.",
  };
  const code = read(thrown, "code");
  if (typeof code === "string" || (typeof code === "number" && Number.isFinite(code))) described.code = code;
  const data = read(thrown, "data");
  const { json } = data === undefined ? {} : toJson(data);
  if (json !== undefined) described.data = json;
  return described;
}

/** What a handler logs, as data: for an error its message, for a value that JSON cannot represent a placeholder. */
export function toLogData(value) {
  const json = value === undefined ? "null" : toJson(value).json;
  if (json !== undefined) return JSON.parse(json);
  if (types.isNativeError(value)) return describeThrown(value).message;
  return "(not representable as JSON)";
}

/** The arguments with which a handler calls another tool, as JSON text. Throws a `TypeError` for the handler. */
export function toArgumentsJson(args) {
  const { json, refusal } = toJson(args ?? {});
  if (json === undefined) throw new TypeError(`Arguments must be JSON, but the value ${refusal}.`);
  if (!json.startsWith("{")) throw new TypeError("Arguments must be an object.");
  return json;
}

/** Throws a `TypeError` for the handler unless its progress has the types of `progress(number, number?, string?)`. */
export function checkProgress(progress, total, message) {
  const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
  if (
    isNumber(progress) &&
    (total === undefined || isNumber(total)) &&
    ["undefined", "string"].includes(typeof message)
  )
    return;
  throw new TypeError(
    "Call progress with a number, optionally the total (a number) and a message (a string).",
  );
}
