// What a handler returned or threw, as data. Plain JavaScript, because both the host and the child process of
// `isolation: process` (code-child.mjs) use it, so that a tool answers the same in either.
import { types } from "node:util";

/** A value as JSON text, as `{ json }`, or why it has none, as `{ refusal }`, which continues "it". Never throws. */
export function toJson(value) {
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
  if (types.isNativeError(value)) return describeThrown(value).message;
  const json = value === undefined ? "null" : toJson(value).json;
  return json === undefined ? "(not representable as JSON)" : JSON.parse(json);
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
