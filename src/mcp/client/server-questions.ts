// What servers ask, between MCP's form and ours.
import { describeType, isRecord } from "../../data/parse-json.ts";
import type {
  InputAnswer,
  InputRequest,
  InputRequests,
  InputRequired,
  InputRound,
} from "../../runtime/handler-context.ts";
import { findInputFault } from "../../runtime/input-rounds.ts";
import { type JsonObject, own } from "./json-rpc.ts";

/** The request in a message of MCP; `undefined` for a method that is unknown. Its values are not checked. */
function toInputRequest(method: unknown, params: JsonObject): unknown {
  if (method === "sampling/createMessage" || method === "roots/list") return { method, params };
  if (method !== "elicitation/create") return undefined;
  const message = own(params, "message");
  if (own(params, "mode") === "url") return { message, url: own(params, "url") };
  return { message, schema: own(params, "requestedSchema") };
}

/** Reads the only question of an `elicitation/create`. Nothing of it is trusted. */
export async function readElicitation(
  params: JsonObject,
): Promise<{ request: InputRequest } | { fault: string }> {
  const request = toInputRequest("elicitation/create", params);
  const fault = await findInputFault({ requests: { input: request } });
  return fault === undefined
    ? { request: request as InputRequest }
    : { fault: fault.replace(/^\/input/, "") };
}

/** Reads the result of a modern server that asks. Nothing of it is trusted. */
export async function readInputRequired(
  result: JsonObject,
): Promise<{ inputRequired: InputRequired } | { fault: string }> {
  const given = own(result, "inputRequests") ?? {};
  const state = own(result, "requestState");
  if (!isRecord(given))
    return { fault: `\`inputRequests\` must be an object, but is ${describeType(given)}` };
  if (state !== undefined && typeof state !== "string") return { fault: "`requestState` must be a string" };
  const requests: Record<string, unknown> = Object.create(null);
  for (const [key, entry] of Object.entries(given)) {
    const { method, params = {} } = isRecord(entry) ? entry : ({} as JsonObject);
    requests[key] = toInputRequest(method, isRecord(params) ? params : {});
  }
  // A state without requests asks only to be called again.
  const isEmpty = Object.keys(requests).length === 0 && state !== undefined;
  const fault = isEmpty ? undefined : await findInputFault({ requests, state });
  if (fault !== undefined) return { fault: `\`inputRequests\` is invalid: ${fault}` };
  return {
    inputRequired: { requests: requests as InputRequests, ...(state !== undefined && { state }) },
  };
}

/** The result of an `elicitation/create`. */
export const toElicitResult = ({ action, content }: InputAnswer): JsonObject => ({ action, content });

/** The parameters that a modern server gets in the next round. */
export const toRoundParams = ({ input, state }: InputRound): JsonObject => ({
  inputResponses: Object.fromEntries(
    Object.entries(input).map(([key, answer]) => [key, toElicitResult(answer)]),
  ),
  requestState: state,
});
