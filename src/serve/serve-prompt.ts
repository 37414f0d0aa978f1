import { qualifiedNameKey } from "../extension-schema/meta-keys.ts";
import type { ServedPrompt } from "../mcp/served-server.ts";
import type { PromptTexts } from "../session/pack-prompt.ts";

/** Serves a prompt by a name. `meta` is added to its entry in `prompts/list`. */
export function servePrompt(
  name: string,
  qualifiedName: string | null,
  { title, description, arguments: args }: PromptTexts,
  get: ServedPrompt["get"],
  meta: object = {},
): ServedPrompt {
  const own = qualifiedName === null ? meta : { [qualifiedNameKey]: qualifiedName, ...meta };
  return {
    name,
    listing: {
      name,
      ...(title === undefined ? {} : { title }),
      ...(description === undefined ? {} : { description }),
      ...(args.length > 0 ? { arguments: args } : {}),
      ...(Object.keys(own).length > 0 ? { _meta: own } : {}),
    },
    required: args.filter(({ required }) => required).map((one) => one.name),
    get,
  };
}
