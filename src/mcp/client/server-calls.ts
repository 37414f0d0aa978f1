// What a server is started with and asked, and how its results are read.
import { carryIntegers } from "../../data/exact-integers.ts";
import { describeType, isRecord } from "../../data/parse-json.ts";
import type { UnexpectedExit } from "../../problems/index.ts";
import type { ProcessLaunch } from "../../processes/server-process.ts";
import type { Cancellation } from "../../runtime/abort-listeners.ts";
import type { AppsDeclaration } from "../../runtime/apps.ts";
import type { InputAnswers, InputRequests, InputRound } from "../../runtime/handler-context.ts";
import { findInputFault, InputNeeded } from "../../runtime/input-rounds.ts";
import { type LeaveOut, type ResultMethod, repairResult } from "../../runtime/mcp-shapes.ts";
import type { CallToolResult, PromptResult, ResourceResult } from "../../runtime/tool-result.ts";
import { RpcError } from "../client-message.ts";
import type { JsonObject, ServerProtocol } from "./json-rpc.ts";
import type { ListCapability } from "./server-lists.ts";

/** How to start a server. Environment and folder are complete: it inherits nothing else. */
export interface ServerLaunch extends ProcessLaunch {
  /** For messages and log files: the server's name in the user's config, or its qualified name. */
  label: string;
  /** Absolute path of the file that its stderr is appended to, in an existing folder; `undefined` for none. */
  logFile: string | undefined;
  /** Strings to remove from logs, errors and stderr tails. Called each time, because the list can change. */
  secrets: () => readonly string[];
  timeouts: { handshakeMs: number; listMs: number };
  protocol: ServerProtocol;
  /** Whether the server is told that it can ask the user (`elicitation`). */
  canAsk?: boolean;
  /** What the server is told of apps when it starts; a modern one gets what its requests say, too. */
  apps?: AppsDeclaration | undefined;
}

/** Of a prompt by the server's own name, or of a URI or template. */
export interface ServerCompletion {
  ref: { type: "ref/prompt"; name: string } | { type: "ref/resource"; uri: string };
  argument: { name: string; value: string };
  context: { arguments: Readonly<Record<string, string>> };
}

export interface Suggestions {
  values: readonly unknown[];
  hasMore?: boolean | undefined;
}

/** A log message of a call. Sensitive values are redacted, as in the session's log. */
export interface ServerLog {
  level: string;
  /** The part of a server that logs, if it says. */
  logger?: string;
  /** Any JSON value. */
  data: unknown;
}

export interface ServerCallOptions {
  /** When it aborts, `notifications/cancelled` is sent once and the call rejects with its reason. */
  signal?: Cancellation | undefined;
  /** Answers what a legacy server asks during the call. The server gets the message of a rejection. */
  ask?: ((requests: InputRequests, signal: AbortSignal) => Promise<InputAnswers>) | undefined;
  /** Identifies who is asked. */
  user?: unknown;
  apps?: AppsDeclaration | undefined;
  round?: InputRound | undefined;
  onProgress?: ((progress: { progress: number; total?: number; message?: string }) => void) | undefined;
  /**
   * Called with the log of this call, redacted. A message that names no request, as those of legacy servers and over stdio,
   * goes to all open calls with `onLog`.
   */
  onLog?: ((entry: ServerLog) => void) | undefined;
}

/** A failed call to a server. A call rejects with this or with the reason of its `signal`. */
export class ServerCallError extends Error {
  override readonly name = "ServerCallError";
  /** Set if its process has ended. */
  readonly exit: UnexpectedExit | undefined;

  /** `cause`: the server's error answer. */
  constructor(message: string, { exit, cause }: { exit?: UnexpectedExit; cause?: unknown } = {}) {
    super(message, { cause });
    this.exit = exit;
  }
}

export interface ResultFault {
  method: string;
  /** What the request was about: a name or a URI. */
  name: string;
  /** The path of the key, without indexes of arrays. */
  key: string;
  /** Continues the key. */
  reason: string;
}

/** Events of a server that are reported as problems but do not end it. */
export interface ServerEvents {
  /** The first line on stdout that is not MCP, shortened; control characters are included. Called once per server. */
  onStdoutNoise(line: string): void;
  /** A `list_changed` notification after its start. */
  onListChanged(capability: ListCapability): void;
  onLeftOut(fault: ResultFault): void;
  /** It takes long to start or list, and may take so many milliseconds, or with -1 any time. Called once per start. */
  onSlow?(limitMs: number): void;
  /** `notifications/message` of the server, redacted. */
  onLog?(entry: ServerLog): void;
}

const keysOf = {
  "tools/call": ["content", "structuredContent", "isError", "_meta"],
  "prompts/get": ["description", "messages", "_meta"],
  "resources/read": ["contents", "_meta"],
  "completion/complete": ["completion"],
} as const;

export interface Results {
  "tools/call": CallToolResult;
  "prompts/get": PromptResult;
  "resources/read": ResourceResult;
  "completion/complete": { completion: Suggestions };
}

const invalidResult = (method: string, fault: string) =>
  new RpcError(`it answered \`${method}\` with an invalid result: ${fault}`);

/** A result with the keys that are passed on, valid for each client. May change the value. Throws `RpcError`. */
export function readResult<Method extends ResultMethod>(
  method: Method,
  value: object,
  leaveOut: LeaveOut,
): Results[Method] {
  const keys: readonly string[] = keysOf[method];
  const result: JsonObject = Object.fromEntries(Object.entries(value).filter(([key]) => keys.includes(key)));
  carryIntegers(value, result);
  const fault = repairResult(method, result, leaveOut);
  if (fault !== undefined) throw invalidResult(method, `it ${fault}`);
  return result as unknown as Results[Method];
}

export function noteLeftOut(
  method: string,
  { name, uri, ref }: Readonly<JsonObject>,
  onLeftOut: (fault: ResultFault) => void,
): LeaveOut {
  const completed = isRecord(ref) ? (ref.name ?? ref.uri) : undefined;
  const about = String(name ?? uri ?? completed);
  return (path, reason) => {
    const key = path.replaceAll(/\[\d+\]/g, "[]");
    onLeftOut({ method, name: about, key, reason: `it ${reason}` });
  };
}

/** The request in a message of MCP; `undefined` for a method that is unknown. Its values are not checked. */
export function toInputRequest(method: unknown, params: JsonObject): unknown {
  if (method !== "elicitation/create") return { method, params };
  const { message, mode, url, requestedSchema: schema } = params;
  return mode === "url" ? { message, url } : { message, schema };
}

/** What a modern server asks with the result of a request. Nothing of it is trusted. Rejects with `RpcError`. */
export async function readInputRequired(
  method: string,
  { inputRequests, requestState: state }: JsonObject,
): Promise<InputNeeded> {
  const given = inputRequests ?? {};
  if (!isRecord(given))
    throw invalidResult(method, `\`inputRequests\` must be an object, but is ${describeType(given)}`);
  if (state !== undefined && typeof state !== "string")
    throw invalidResult(method, "`requestState` must be a string");
  const requests: Record<string, unknown> = Object.create(null);
  for (const [key, entry] of Object.entries(given)) {
    const { method, params = {} } = isRecord(entry) ? entry : ({} as JsonObject);
    requests[key] = toInputRequest(method, isRecord(params) ? params : {});
  }
  // A state without requests asks only to be called again.
  const isEmpty = Object.keys(requests).length === 0 && state !== undefined;
  const fault = isEmpty ? undefined : await findInputFault(requests);
  if (fault !== undefined) throw invalidResult(method, `\`inputRequests\` is invalid: ${fault}`);
  return new InputNeeded({ requests: requests as InputRequests, ...(state !== undefined && { state }) });
}
