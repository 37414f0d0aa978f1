// JSON-RPC as servers write it: nothing of it is trusted.
import { isRecord } from "../../data/parse-json.ts";
import { rpcCode } from "../client-message.ts";

/** A JSON object from another process. */
export type JsonObject = Record<string, unknown>;

/** The value of an own key, or `undefined`. */
export const own = (object: JsonObject, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : undefined;

/** An error answer, whose message is the server's, or an invalid answer. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";
  /** The code of the server's error; `undefined` for an invalid answer. */
  readonly code: number | undefined;
  readonly data: unknown;

  constructor(message: string, code?: number, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The code of legacy servers for a URI that they do not know. Modern ones answer with that of invalid parameters. */
const unknownResource = -32002;
/** What servers with general codes say. */
const unknownWords =
  /\b(?:unknown|no such) resource\b|\bresource\b[^\n]{0,2000}\b(?:not found|does not exist|unknown)\b/i;

/** Whether a server's answer to `resources/read` means that it does not know the URI. */
export const saysUnknownResource = ({ code, message }: AnswerError): boolean =>
  code === unknownResource ||
  code === rpcCode.params ||
  (code !== undefined && code !== rpcCode.method && unknownWords.test(message.slice(0, 4000)));

/** The result of an answer. Throws `AnswerError` for an error, and for an answer that is invalid. */
export function readAnswer(message: JsonObject): JsonObject {
  if (own(message, "jsonrpc") !== "2.0") throw new AnswerError('`jsonrpc` of its answer must be "2.0"');
  const result = own(message, "result");
  const error = own(message, "error");
  if (isRecord(result) && error === undefined) return result;
  if (!isRecord(error)) throw new AnswerError("its answer must have an object as `result` or as `error`");
  const code = own(error, "code");
  const text = own(error, "message");
  if (!Number.isSafeInteger(code) || typeof text !== "string")
    throw new AnswerError("the error in its answer must have an integer `code` and a string `message`");
  throw new AnswerError(text, code as number, own(error, "data"));
}
