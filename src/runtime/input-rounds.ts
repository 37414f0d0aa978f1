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

// What handlers can ask, as JSON Schemas.

const strings = { type: "array", minItems: 1, items: { type: "string" } };
/** `[{ const, title }]`, MCP's form of choices with titles. */
const choices = {
  type: "array",
  minItems: 1,
  items: { type: "object", properties: { const: { type: "string" } }, required: ["const"] },
};
/** What nests or combines schemas, which forms of clients do not know. */
const flat = Object.fromEntries(
  ["$ref", "allOf", "anyOf", "oneOf", "not", "if", "properties", "items", "prefixItems"].map((key) => [
    key,
    false,
  ]),
);
// biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
const when = (condition: object, consequence: object) => ({ if: condition, then: consequence });
const ofTypes = (types: readonly string[], consequence: object) =>
  when({ properties: { type: { enum: types } }, required: ["type"] }, consequence);
/** Clients refuse other formats. */
const formats = ["email", "uri", "date", "date-time"];
const items = {
  type: "object",
  properties: { ...flat, anyOf: choices },
  ...when(
    { not: { required: ["anyOf"] } },
    { properties: { type: { const: "string" }, enum: strings }, required: ["type", "enum"] },
  ),
};
const field = {
  type: "object",
  properties: { type: { enum: ["string", "number", "integer", "boolean", "array"] } },
  required: ["type"],
  allOf: [
    ofTypes(["string"], {
      properties: { ...flat, enum: strings, oneOf: choices, format: { enum: formats } },
    }),
    ofTypes(["number", "integer", "boolean"], { properties: flat }),
    ofTypes(["array"], { properties: { ...flat, items }, required: ["items"] }),
  ],
};
const message = { type: "string", minLength: 1 };
const form = {
  type: "object",
  properties: {
    message,
    schema: {
      type: "object",
      properties: {
        $schema: {},
        type: { const: "object" },
        properties: { type: "object", additionalProperties: field },
        required: {},
        additionalProperties: {},
        title: {},
        description: {},
      },
      required: ["type", "properties"],
      additionalProperties: false,
    },
  },
  required: ["message", "schema"],
};
const page = {
  type: "object",
  properties: { message, url: { type: "string" }, schema: false },
  required: ["message", "url"],
};
const methodCall = {
  type: "object",
  properties: {
    method: { enum: ["sampling/createMessage", "roots/list"] },
    params: { type: "object" },
    schema: false,
    url: false,
  },
  required: ["method"],
};

const shapes = {
  method: { additionalProperties: methodCall },
  url: { additionalProperties: page },
  form: { additionalProperties: form },
};

function shapeOf(request: unknown): object & Readonly<Record<string, unknown>> {
  const has = (name: string) => typeof request === "object" && request !== null && name in request;
  return shapes[has("method") ? "method" : has("url") ? "url" : "form"];
}

const isHttpUrl = (url: string) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

/** Compiles schemas, so loaded only when something is asked. */
const loadValidator = () => import("../json-schema/schema-validator.ts");

async function findRequestFault(key: string, request: unknown): Promise<string | undefined> {
  const validator = await loadValidator();
  const rejection = validator.check(shapeOf(request), { [key]: request });
  if (rejection !== undefined) return rejection.message;
  const { url, schema } = request as { url?: string; schema?: Record<string, unknown> };
  if (url !== undefined && !isHttpUrl(url)) return `/${key}/url must be an http or https URL`;
  const used = validator.check(schema, {});
  return used?.isOfSchema ? `/${key}/schema${used.message}` : undefined;
}

/** Why what is asked, `{ requests, state? }`, cannot be asked; `undefined` if it can. */
export async function findInputFault(value: unknown): Promise<string | undefined> {
  const { requests } = isRecord(value) ? value : ({} as Record<string, unknown>);
  if (!isRecord(requests)) return "the requests must be an object";
  const entries = Object.entries(requests);
  if (entries.length === 0) return "there is no request";
  if (Buffer.byteLength(JSON.stringify(requests)) > mostRequestBytes)
    return `the requests exceed ${mostRequestBytes} bytes`;
  for (const [key, request] of entries) {
    const fault = await findRequestFault(key, request);
    if (fault !== undefined) return fault;
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
  const value: unknown = JSON.parse(returned.json);
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
  throw new InputNeeded({
    requests: Object.fromEntries(complete),
    ...(state === undefined ? {} : { state }),
  });
}

/** Whether the result of a client fits the request of MCP that it was asked. */
const fitsMethod = (method: string, { roots, role, model, content }: Readonly<Record<string, unknown>>) =>
  method === "roots/list"
    ? Array.isArray(roots)
    : typeof role === "string" && typeof model === "string" && content !== undefined;

export const isAnswer = (value: unknown): value is InputAnswer =>
  isRecord(value) &&
  ["accept", "decline", "cancel"].includes(String(value.action)) &&
  (value.content === undefined || isRecord(value.content));

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

export const describeRequests = (requests: InputRequests): string =>
  `The tool needs input, but this client cannot be asked. ${listRequests(requests)}`;
