import { isObject } from "../context-from.ts";
import type { InputAnswer, InputAnswers, InputRequest, NeededInput } from "../input.ts";
import type { Check } from "./check-value.ts";

/** The client of a server, which may be able to ask its user. */
export interface AskedClient {
  capabilities: Readonly<Record<string, unknown>>;
  signal: AbortSignal;
  /** Sends a request to the client. Rejects if the client answers with an error, or not in time. */
  send(request: {
    method: string;
    params: Record<string, unknown>;
  }): Promise<Readonly<Record<string, unknown>>>;
}

const isHttpUrl = (url: unknown) =>
  typeof url === "string" && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

const propertyTypes: readonly unknown[] = ["string", "number", "integer", "boolean", "array"];

function findFormFault(schema: unknown): string | undefined {
  if (!isObject(schema) || schema.type !== "object" || !isObject(schema.properties))
    return "/schema must be a JSON Schema of type object, with properties";
  const odd = Object.entries(schema.properties).find(
    ([, one]) => !isObject(one) || !propertyTypes.includes(one.type),
  );
  return odd && `/schema/properties/${odd[0]}/type must be string, number, integer, boolean or array`;
}

/** Why a request cannot be asked; continues a path. */
function findRequestFault(request: unknown): string | undefined {
  if (!isObject(request)) return " must be object";
  const { method, message, schema, url } = request;
  if ([method, schema, url].filter((one) => one !== undefined).length !== 1)
    return " must have either `schema`, `url` or `method`";
  if (method !== undefined) {
    const isKnown = method === "sampling/createMessage" || method === "roots/list";
    return isKnown ? undefined : "/method must be sampling/createMessage or roots/list";
  }
  if (typeof message !== "string" || message === "") return "/message must be a string that is not empty";
  if (url !== undefined) return isHttpUrl(url) ? undefined : "/url must be an http or https URL";
  return findFormFault(schema);
}

/** Why a handler's requests cannot be asked; `undefined` if they can. */
export function findInputFault(requests: unknown): string | undefined {
  if (!isObject(requests) || Object.keys(requests).length === 0) return "there is no request";
  for (const [key, request] of Object.entries(requests)) {
    const fault = findRequestFault(request);
    if (fault !== undefined) return `/${key}${fault}`;
  }
  return undefined;
}

function canAsk(request: InputRequest, capabilities: Readonly<Record<string, unknown>>): boolean {
  if ("method" in request) return isObject(capabilities[request.method.split("/", 1)[0] ?? ""]);
  const { elicitation } = capabilities;
  if (!isObject(elicitation)) return false;
  // Before there were modes, there were only forms.
  return "url" in request
    ? isObject(elicitation.url)
    : isObject(elicitation.form) || !isObject(elicitation.url);
}

async function askOne(
  request: InputRequest,
  { send, signal }: AskedClient,
  check: Check,
): Promise<InputAnswer> {
  const isOfMethod = "method" in request;
  let result: Readonly<Record<string, unknown>>;
  try {
    if (isOfMethod) return { action: "accept", content: await send({ params: {}, ...request }) };
    const { message } = request;
    const params =
      "url" in request
        ? { mode: "url", message, url: request.url, elicitationId: crypto.randomUUID() }
        : { message, requestedSchema: request.schema };
    result = await send({ method: "elicitation/create", params });
  } catch {
    signal.throwIfAborted();
    return { action: "cancel" };
  }
  const { action, content = {} } = result;
  if (action === "cancel") return { action };
  if (action !== "accept") return { action: "decline" };
  if ("url" in request) return { action };
  const fits = isObject(content) && check(request.schema, content) === undefined;
  return fits ? { action, content } : { action: "decline" };
}

/**
 * Asks the client valid requests, one question at a time. Returns a string, why it cannot be asked, for the caller.
 * Rejects if the call is canceled.
 */
export async function askClient(
  { requests }: NeededInput,
  client: AskedClient,
  check: Check,
): Promise<InputAnswers | string> {
  const entries = Object.entries(requests);
  if (!entries.every(([, request]) => canAsk(request, client.capabilities))) {
    const texts = entries.map(([key, one]) => `${key}: ${"method" in one ? one.method : one.message}`);
    return `The tool needs input, but this client cannot be asked. ${texts.join("; ")}`;
  }
  const answers: Record<string, InputAnswer> = {};
  for (const [key, request] of entries) answers[key] = await askOne(request, client, check);
  return answers;
}
