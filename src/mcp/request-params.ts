import { isRecord } from "../data/parse-json.ts";

/** MCP's levels of logging. */
const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

const isText = (value: unknown): value is string => typeof value === "string";

function findCallFault(params: Readonly<Record<string, unknown>>): string | undefined {
  if (!isText(params.name)) return "params.name must be a text.";
  if (params.arguments !== undefined && !isRecord(params.arguments))
    return "params.arguments must be an object.";
  return undefined;
}

function findInitializeFault(params: Readonly<Record<string, unknown>>): string | undefined {
  const { protocolVersion, capabilities, clientInfo } = params;
  if (!isText(protocolVersion)) return "params.protocolVersion must be a text.";
  if (!isRecord(capabilities) || !Object.values(capabilities).every(isRecord))
    return "params.capabilities must be an object of objects.";
  if (!isRecord(clientInfo) || !isText(clientInfo.name) || !isText(clientInfo.version))
    return "params.clientInfo must be an object with the texts name and version.";
  return undefined;
}

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
        return values.every(isText) ? undefined : "The arguments of a prompt must be texts.";
      },
    ],
    ...["tools/list", "prompts/list"].map(
      (method) =>
        [
          method,
          ({ cursor }: Readonly<Record<string, unknown>>) =>
            cursor === undefined || isText(cursor) ? undefined : "params.cursor must be a text.",
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
 * What is wrong with the params of a request, in words for its client; `undefined` where they are right, or where the
 * method is none of ours. The SDK would answer with the inside of its schemas.
 */
export function findParamsFault(method: string, params: unknown): string | undefined {
  const rule = rules.get(method);
  if (rule === undefined) return undefined;
  if (params !== undefined && !isRecord(params)) return "params must be an object.";
  return rule(params ?? {});
}
