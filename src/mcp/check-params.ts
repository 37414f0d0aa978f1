import { specTypeSchemas } from "@modelcontextprotocol/server";
import { badRequest } from "./client-message.ts";

const { PaginatedRequestParams: page } = specTypeSchemas;

const paramsSchemas = new Map(
  Object.entries({
    initialize: specTypeSchemas.InitializeRequestParams,
    "logging/setLevel": specTypeSchemas.SetLevelRequestParams,
    "tools/list": page,
    "prompts/list": page,
    "resources/list": page,
    "resources/templates/list": page,
    "tools/call": specTypeSchemas.CallToolRequestParams,
    "prompts/get": specTypeSchemas.GetPromptRequestParams,
    "resources/read": specTypeSchemas.ReadResourceRequestParams,
    "resources/subscribe": specTypeSchemas.SubscribeRequestParams,
    "skills/list": page,
    "skills/get": specTypeSchemas.ReadResourceRequestParams,
    "resources/unsubscribe": specTypeSchemas.UnsubscribeRequestParams,
    "completion/complete": specTypeSchemas.CompleteRequestParams,
  }),
);

/** Throws JSON-RPC's error for invalid params. The SDK's own error is an internal one for some methods. */
export function checkParams(method: string, params: unknown): void {
  const [issue] = paramsSchemas.get(method)?.["~standard"].validate(params ?? {}).issues ?? [];
  if (issue === undefined) return;
  const keys = (issue.path ?? []).map((key) => String(typeof key === "object" ? key.key : key));
  throw badRequest(`${["params", ...keys].join(".")}: ${issue.message}.`);
}
