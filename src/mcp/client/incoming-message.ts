import { isRecord } from "../../data/parse-json.ts";

/** A JSON object from another process. */
export type JsonObject = Record<string, unknown>;

/** The value of an own key, or `undefined`. */
export const own = (object: JsonObject, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : undefined;

/** The answer to one of our requests. */
export type Reply =
  | { result: JsonObject }
  | { error: { code: number; message: string; data?: unknown } }
  | { fault: string };

/** How we classify a value that the server wrote. */
export type Incoming =
  | { kind: "reply"; id: number; reply: Reply }
  | { kind: "request"; id: string | number; method: string; params: JsonObject | undefined }
  | { kind: "notification"; method: string; params: JsonObject }
  /** JSON-RPC, but an answer to no open request, or of an invalid shape without a usable id. */
  | { kind: "stray" }
  | { kind: "noise" };

function readReply(message: JsonObject): Reply {
  const result = own(message, "result");
  const error = own(message, "error");
  if (isRecord(result) && error === undefined) return { result };
  if (!isRecord(error)) return { fault: "its answer must have an object as `result` or as `error`" };
  const code = own(error, "code");
  const text = own(error, "message");
  if (!Number.isSafeInteger(code) || typeof text !== "string") {
    return { fault: "the error in its answer must have an integer `code` and a string `message`" };
  }
  const data = own(error, "data");
  return { error: { code: code as number, message: text, data } };
}

/** Our ids are numbers; some servers return them as strings. */
function readId(id: unknown): number | undefined {
  if (typeof id === "number") return id;
  return typeof id === "string" && /^\d{1,15}$/.test(id) ? Number(id) : undefined;
}

/** `isAwaited` returns whether one of our requests is open. */
export function readIncoming(value: unknown, isAwaited: (id: number) => boolean): Incoming {
  if (!isRecord(value)) return { kind: "noise" };
  const id = own(value, "id");
  const method = own(value, "method");
  const isProtocol = own(value, "jsonrpc") === "2.0";
  if (typeof method === "string" && isProtocol) {
    const given = own(value, "params");
    const params = isRecord(given) ? given : undefined;
    if (id === undefined) return { kind: "notification", method, params: params ?? {} };
    if (typeof id === "string" || Number.isSafeInteger(id)) {
      return { kind: "request", id: id as string | number, method, params };
    }
    return { kind: "stray" };
  }
  const isAnswer = method === undefined && (Object.hasOwn(value, "result") || Object.hasOwn(value, "error"));
  const number = readId(id);
  if (number !== undefined && method === undefined && (isProtocol || isAnswer) && isAwaited(number)) {
    if (!isProtocol)
      return { kind: "reply", id: number, reply: { fault: '`jsonrpc` of its answer must be "2.0"' } };
    return { kind: "reply", id: number, reply: readReply(value) };
  }
  return { kind: isProtocol ? "stray" : "noise" };
}
