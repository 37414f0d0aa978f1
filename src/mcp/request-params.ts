import { isRecord } from "../data/parse-json.ts";
import { methodOf } from "./client-message.ts";

/** MCP's levels of logging. */
const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

type LogLevel = (typeof levels)[number];

/** The level, or `info` for a level that MCP does not have. */
export const readLogLevel = (level: string): LogLevel => levels.find((one) => one === level) ?? "info";

/** Larger for more serious messages. */
export const rankLogLevel = (level: string): number => levels.indexOf(readLogLevel(level));

const isString = (value: unknown): value is string => typeof value === "string";

function findCallFault(params: Readonly<Record<string, unknown>>): string | undefined {
  if (!isString(params.name)) return "params.name must be a string.";
  if (params.arguments !== undefined && !isRecord(params.arguments))
    return "params.arguments must be an object.";
  return undefined;
}

function findInitializeFault(params: Readonly<Record<string, unknown>>): string | undefined {
  const { protocolVersion, capabilities, clientInfo } = params;
  if (!isString(protocolVersion)) return "params.protocolVersion must be a string.";
  if (!isRecord(capabilities) || !Object.values(capabilities).every(isRecord))
    return "params.capabilities must be an object of objects.";
  if (!isRecord(clientInfo) || !isString(clientInfo.name) || !isString(clientInfo.version))
    return "params.clientInfo must be an object with the strings name and version.";
  return undefined;
}

const findUriFault = ({ uri }: Readonly<Record<string, unknown>>) =>
  isString(uri) ? undefined : "params.uri must be a string.";

function findCompletionFault({
  ref,
  argument,
  context,
}: Readonly<Record<string, unknown>>): string | undefined {
  const isRef =
    isRecord(ref) &&
    ((ref.type === "ref/prompt" && isString(ref.name)) || (ref.type === "ref/resource" && isString(ref.uri)));
  if (!isRef) return "params.ref must name a prompt or a resource template.";
  if (!isRecord(argument) || !isString(argument.name) || !isString(argument.value))
    return "params.argument must be an object with the strings name and value.";
  const given = isRecord(context) ? (context.arguments ?? {}) : (context ?? {});
  return isRecord(given) && Object.values(given).every(isString)
    ? undefined
    : "params.context.arguments must be an object of strings.";
}

/** The methods whose answers have pages. */
export const listMethods = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];

const rules: ReadonlyMap<string, (params: Readonly<Record<string, unknown>>) => string | undefined> = new Map(
  [
    ["initialize", findInitializeFault],
    ["tools/call", findCallFault],
    [
      "prompts/get",
      (params) => {
        const fault = findCallFault(params);
        if (fault !== undefined || params.arguments === undefined) return fault;
        const values = Object.values(params.arguments as object);
        return values.every(isString) ? undefined : "The arguments of a prompt must be strings.";
      },
    ],
    ["resources/read", findUriFault],
    ["resources/subscribe", findUriFault],
    ["resources/unsubscribe", findUriFault],
    ["completion/complete", findCompletionFault],
    ...listMethods.map(
      (method) =>
        [
          method,
          ({ cursor }: Readonly<Record<string, unknown>>) =>
            cursor === undefined || isString(cursor) ? undefined : "params.cursor must be a string.",
        ] as const,
    ),
    [
      "logging/setLevel",
      ({ level }) =>
        levels.some((one) => one === level) ? undefined : `params.level must be one of ${levels.join(", ")}.`,
    ],
  ],
);

/**
 * Why the params of a request are invalid, as a sentence for its client; `undefined` if they are valid or the method is
 * unknown here. The SDK would answer with the internals of its schemas.
 */
export function findParamsFault(method: string, params: unknown): string | undefined {
  const rule = rules.get(method);
  if (rule === undefined) return undefined;
  if (params !== undefined && !isRecord(params)) return "params must be an object.";
  return rule(params ?? {});
}

/** The methods of modern revisions with such rules. */
const modernMethods = [...listMethods, "tools/call", "prompts/get", "resources/read", "completion/complete"];

/** The params of a request that is made again with answers. */
function findRetryFault({
  inputResponses,
  requestState,
}: Readonly<Record<string, unknown>>): string | undefined {
  if (requestState !== undefined && !isString(requestState)) return "params.requestState must be a string.";
  const isValid =
    inputResponses === undefined ||
    (isRecord(inputResponses) && Object.values(inputResponses).every(isRecord));
  return isValid ? undefined : "params.inputResponses must be an object of objects.";
}

/** The same for a message of a modern client. */
export function findModernFault(message: unknown): string | undefined {
  const method = methodOf(message);
  if (method === undefined || !modernMethods.includes(method)) return undefined;
  const { params } = message as { params?: unknown };
  return findParamsFault(method, params) ?? (isRecord(params) ? findRetryFault(params) : undefined);
}
