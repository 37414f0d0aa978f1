import { createHash } from "node:crypto";
import { describeType, isRecord } from "../data/parse-json.ts";
import { describeUnwritable } from "../mcp/client/copy-arguments.ts";
import type { InputAnswers, InputRequests, InputRequired, InputRound } from "../runtime/input-requests.ts";
import { isAnswer, settleAnswers } from "../runtime/input-rounds.ts";

/** A call: the advertised name and the arguments as JSON. */
interface AskingCall {
  name: string;
  json: string;
}

/** How many calls are remembered, of those that asked last. */
const mostAsked = 100;

/** Keeps the answers of the right shape; the others are declines. */
const readShapes = (input: Readonly<Record<string, unknown>>): InputAnswers =>
  Object.fromEntries(
    Object.entries(input).map(([key, answer]) => [key, isAnswer(answer) ? answer : { action: "decline" }]),
  );

/** Copies a state through JSON, as it would come back from another process. */
function copyState(state: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(state));
  } catch (error) {
    throw new Error(`The state cannot be written as JSON: ${describeUnwritable(error)}`);
  }
}

/** What calls have asked a host that answers by calling again: the answers are checked against these requests. */
export class AskedRequests {
  readonly #requests = new Map<string, InputRequests>();

  #identify({ name, json }: AskingCall, state: unknown): string {
    return createHash("sha256")
      .update(JSON.stringify([name, json, state ?? null]))
      .digest("base64");
  }

  /** Remembers what a call has asked. */
  remember(call: AskingCall, { requests, state }: InputRequired): void {
    const key = this.#identify(call, state);
    this.#requests.delete(key);
    this.#requests.set(key, requests);
    const [oldest] = this.#requests.keys();
    if (oldest !== undefined && this.#requests.size > mostAsked) this.#requests.delete(oldest);
  }

  /**
   * The answers that a call is made with. Those to requests of this session are checked against their schemas; others
   * only in their shape. Rejects if they are no answers at all.
   */
  async readRound(
    call: AskingCall,
    { input, state }: { input?: unknown; state?: unknown },
  ): Promise<InputRound | undefined> {
    if (input === undefined && state === undefined) return undefined;
    if (input !== undefined && !isRecord(input)) {
      throw new Error(`The input must be an object with answers by key, but it is ${describeType(input)}.`);
    }
    const given = input ?? {};
    const copied = state === undefined ? {} : { state: copyState(state) };
    const requests = this.#requests.get(this.#identify(call, copied.state));
    const answers = requests === undefined ? readShapes(given) : await settleAnswers(requests, given);
    return { input: answers, ...copied };
  }
}
