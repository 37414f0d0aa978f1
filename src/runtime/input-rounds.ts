// What handlers ask, the rounds of answers, and the checks of both.
import { isRecord } from "../data/parse-json.ts";
import { printable, quote } from "../problems/index.ts";
import {
  type InputAnswer,
  type InputAnswers,
  type InputRequest,
  type InputRequests,
  type InputRequired,
  type InputRound,
  mostRounds,
} from "./handler-context.ts";
import { isHttpUrl, shapeOf } from "./input-shapes.ts";

/** What is asked at once, and by whom. */
export interface AskedRound extends InputRequired {
  tool: string;
  /** Whether the request of the host or client itself asks, which runs again with the answers. */
  isOutermost?: boolean;
  /** Whether a call waits for the answers that cannot be run again: of a server that asks in its middle, or around another. */
  isWaiting?: boolean;
  /** Whether the session asks before it makes the call, which it denies if the user cannot be asked. */
  isApproval?: boolean;
  /** Aborts the questions: `ask` then rejects with its reason. */
  signal: AbortSignal;
}

/** Asks for the answers to one round. Rejects with an error for the tool if its requests cannot be answered. */
export type AskInput = (round: AskedRound) => Promise<InputAnswers>;

/** The questions of a handler cannot be asked. The message is for the caller. */
export class UnaskedError extends Error {
  override readonly name = "UnaskedError";
}

/** An answer, or what is asked before there is one. */
export type Round<Answer> = Answer | { inputRequired: InputRequired };

/** Asks, and runs again with the answers, until nothing is asked any more. Rejects as these do, or with `UnaskedError`. */
export async function answerRounds<Answer extends object>(
  first: { inputRequired: InputRequired },
  runAgain: (round: InputRound) => Promise<Round<Answer>>,
  ask: (asked: InputRequired) => Promise<InputAnswers>,
): Promise<Answer> {
  let answer: Round<Answer> = first;
  for (let rounds = 0; "inputRequired" in answer; rounds++) {
    if (rounds === mostRounds)
      throw new UnaskedError(`It asked for input ${mostRounds} times without an answer.`);
    const { requests, ...state } = answer.inputRequired;
    answer = await runAgain({ input: await ask({ requests, ...state }), ...state });
  }
  return answer;
}

/** How much a handler may ask at once: keys, and bytes of JSON for the requests and for the state. */
const limits = { requests: 32, requestBytes: 64 * 1024, stateBytes: 64 * 1024, keyLength: 128 };

/** Compiles schemas, so loaded only when something is asked. */
const loadValidator = async () =>
  (validator ??= (await import("../json-schema/schema-validator.ts")).createSchemaValidator());
let validator: import("../json-schema/schema-validator.ts").SchemaValidator | undefined;

/** Why a request cannot be asked, with its path. */
async function findRequestFault(key: string, request: unknown): Promise<string | undefined> {
  const validator = await loadValidator();
  const checked = validator.check(shapeOf(request), { [key]: request });
  if (!checked.ok) return checked.message;
  const { url, schema } = request as { url?: string; schema?: Record<string, unknown> };
  if (url !== undefined && !isHttpUrl(url)) return `/${key}/url must be an http or https URL`;
  const used = validator.check(schema, {});
  return used.ok ? undefined : used.schemaFault && `/${key}/schema${used.schemaFault}`;
}

/** Why what is asked, `{ requests, state? }`, cannot be asked; `undefined` if it can. */
export async function findInputFault(value: unknown): Promise<string | undefined> {
  const { requests, state } = isRecord(value) ? value : ({} as Record<string, unknown>);
  if (!isRecord(requests)) return "the requests must be an object";
  const keys = Object.keys(requests);
  if (keys.length === 0) return "there is no request";
  if (keys.length > limits.requests) return `there are more than ${limits.requests} requests`;
  const bytesOf = (data: unknown) => Buffer.byteLength(JSON.stringify(data));
  if (bytesOf(requests) > limits.requestBytes) return `the requests exceed ${limits.requestBytes} bytes`;
  if (state !== undefined && bytesOf(state) > limits.stateBytes)
    return `the state exceeds ${limits.stateBytes} bytes`;
  for (const key of keys) {
    if (key === "" || key.length > limits.keyLength || key === "__proto__")
      return `invalid key ${quote(key)}`;
    const fault = await findRequestFault(key, requests[key]);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** A handler asks what cannot be asked. The message is for the caller and for the pack's author. */
export class InvalidQuestionError extends Error {
  override readonly name = "InvalidQuestionError";
}

/** Parses what a handler asks. Rejects with `InvalidQuestionError` for what cannot be asked. */
export async function readInputRequired(json: string): Promise<{ inputRequired: InputRequired }> {
  const value: unknown = JSON.parse(json);
  const fault = await findInputFault(value);
  if (fault !== undefined)
    throw new InvalidQuestionError(
      `The handler asks for input with an invalid request: ${printable(fault)}.`,
    );
  const { requests, state } = value as InputRequired;
  const complete = Object.entries(requests).map(([key, request]) => [
    key,
    "method" in request ? { ...request, params: request.params ?? {} } : request,
  ]);
  return {
    inputRequired: { requests: Object.fromEntries(complete), ...(state === undefined ? {} : { state }) },
  };
}

/** The result of a client for a request of MCP that it was asked. */
const fitsMethod = (method: string, content: unknown) =>
  isRecord(content) &&
  (method === "roots/list"
    ? Array.isArray(content.roots)
    : typeof content.role === "string" && typeof content.model === "string" && content.content !== undefined);

/** Whether a value has the shape of an answer. */
export const isAnswer = (value: unknown): value is InputAnswer =>
  isRecord(value) &&
  ["accept", "decline", "cancel"].includes(String(value.action)) &&
  (value.content === undefined || isRecord(value.content));

async function settleAnswer(request: InputRequest, answer: unknown): Promise<InputAnswer> {
  const { action, content = {} } = isRecord(answer) ? answer : ({} as Record<string, unknown>);
  if (action === "cancel") return { action };
  if (action !== "accept" || !isRecord(content)) return { action: "decline" };
  if ("url" in request) return { action };
  const fits =
    "method" in request
      ? fitsMethod(request.method, content)
      : (await loadValidator()).check(request.schema, content).ok;
  return fits ? { action, content } : { action: "decline" };
}

/**
 * What a handler gets of the answers of a client or a user, which may be any value: only answers to its requests, and a
 * decline for one that breaks its schema.
 */
export async function settleAnswers(requests: InputRequests, answers: unknown): Promise<InputAnswers> {
  const settled: [string, InputAnswer][] = [];
  for (const [key, request] of Object.entries(requests)) {
    if (!isRecord(answers) || !Object.hasOwn(answers, key)) continue;
    settled.push([key, await settleAnswer(request, answers[key])]);
  }
  return Object.fromEntries(settled);
}

/** What is asked, for people. */
export function listRequests(requests: InputRequests): string {
  const texts = Object.entries(requests).map(([key, request]) => {
    if ("method" in request) return `${quote(key)}: ${request.method}`;
    const target = "url" in request ? ` (${quote(request.url, 500)})` : "";
    return `${quote(key)}: ${quote(request.message, 500)}${target}`;
  });
  return texts.join("; ");
}

/** The message of a call whose client cannot be asked. */
export const describeRequests = (requests: InputRequests): string =>
  `The tool needs input, but this client cannot be asked. ${listRequests(requests)}`;
