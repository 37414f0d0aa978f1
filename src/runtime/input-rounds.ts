// What handlers ask, the rounds of answers, and the checks of both.
import { isRecord } from "../data/parse-json.ts";
import { attempt } from "../files/file-errors.ts";
import { printable, quote } from "../problems/index.ts";
import type { Returned } from "./handler-code.mjs";
import {
  type InputAnswer,
  type InputAnswers,
  type InputRequest,
  type InputRequests,
  type InputRequired,
  type InputRound,
  mostRounds,
} from "./handler-context.ts";

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

/** Ends the run of a call that needs input first. */
export class InputNeeded extends Error {
  readonly asked: InputRequired;

  constructor(asked: InputRequired) {
    super("The call needs input.");
    this.asked = asked;
  }
}

/**
 * Runs, asks for the input that the run needs, and runs again with the answers. Rejects as these do, or with an error for the
 * caller. `round`: the answers to what it asked before.
 */
export async function answerRounds<Answer>(
  run: (round: InputRound | undefined) => Promise<Answer>,
  ask: (asked: InputRequired) => Promise<InputAnswers>,
  round?: InputRound,
): Promise<Answer> {
  let answered = round;
  for (let rounds = 0; ; rounds++) {
    try {
      return await run(answered);
    } catch (error) {
      if (!(error instanceof InputNeeded)) throw error;
      if (rounds === mostRounds) throw new Error(`It asked for input ${mostRounds} times without an answer.`);
      const { requests: _, ...state } = error.asked;
      answered = { input: await ask(error.asked), ...state };
    }
  }
}

const mostRequestBytes = 64 * 1024;

/** Compiles schemas, so loaded only when something is asked. */
const loadValidator = () => import("../json-schema/schema-validator.ts");

/** Why requests cannot be asked; `undefined` if they can. */
export async function findInputFault(requests: unknown): Promise<string | undefined> {
  if (!isRecord(requests)) return "the requests must be an object";
  const entries = Object.entries(requests);
  if (entries.length === 0) return "there is no request";
  if (Buffer.byteLength(JSON.stringify(requests)) > mostRequestBytes)
    return `the requests exceed ${mostRequestBytes} bytes`;
  const { findQuestionFault } = await import("../extension-schema/question-schema.ts");
  const { check } = await loadValidator();
  for (const [key, request] of entries) {
    const fault = findQuestionFault(request);
    if (fault !== undefined) return `of ${quote(key)}, ${fault}`;
    const used = check((request as { schema?: Record<string, unknown> }).schema, {});
    if (used?.isOfSchema) return `of ${quote(key)}, /schema${used.message}`;
  }
  return undefined;
}

/** A handler asks what cannot be asked. The message is for the caller and for the pack's author. */
export class InvalidQuestionError extends Error {
  override readonly name = "InvalidQuestionError";
}

/** What code returned. Rejects with `InputNeeded` if it asks, and with `InvalidQuestionError` for what cannot be asked. */
export async function expectAnswer(returned: Returned): Promise<Returned> {
  if (returned.kind !== "input") return returned;
  const { requests, state } = (JSON.parse(returned.json) ?? {}) as InputRequired;
  const fault = await findInputFault(requests);
  if (fault !== undefined)
    throw new InvalidQuestionError(
      `The handler asks for input with an invalid request: ${printable(fault)}.`,
    );
  throw new InputNeeded({ requests, ...(state === undefined ? {} : { state }) });
}

/** Whether the result of a client fits the request of MCP that it was asked. */
const fitsMethod = (method: string, { roots, role, model, content }: Readonly<Record<string, unknown>>) =>
  method === "roots/list"
    ? Array.isArray(roots)
    : typeof role === "string" && typeof model === "string" && content !== undefined;

async function settleAnswer(request: InputRequest, answer: unknown): Promise<InputAnswer> {
  if (!isRecord(answer)) return { action: "decline" };
  if ("method" in request)
    return fitsMethod(request.method, answer) ? { action: "accept", content: answer } : { action: "decline" };
  const { action, content = {} } = answer;
  if (action === "cancel") return { action };
  if (action !== "accept" || !isRecord(content)) return { action: "decline" };
  if ("url" in request) return { action };
  const copy = attempt(() => structuredClone(content));
  const rejection = (await loadValidator()).check(request.schema, copy);
  return rejection === undefined ? { action, content } : { action: "decline" };
}

/**
 * What a handler gets of the answers of a client or a user, which may be any values: only answers to its requests, and a decline
 * for one that breaks its schema. A request of MCP is answered with its result.
 */
export async function settleAnswers(
  requests: InputRequests,
  answers: Readonly<Record<string, unknown>>,
): Promise<InputAnswers> {
  const settled: [string, InputAnswer][] = [];
  for (const [key, request] of Object.entries(requests))
    if (Object.hasOwn(answers, key)) settled.push([key, await settleAnswer(request, answers[key])]);
  return Object.fromEntries(settled);
}

export function listRequests(requests: InputRequests): string {
  const texts = Object.entries(requests).map(([key, request]) => {
    if ("method" in request) return `${quote(key)}: ${request.method}`;
    const target = "url" in request ? ` (${quote(request.url, 500)})` : "";
    return `${quote(key)}: ${quote(request.message, 500)}${target}`;
  });
  return texts.join("; ");
}
