import type { AdvertisedPrompt } from "../mcp/client/connected-server.ts";
import type { ServedPrompt } from "../mcp/served-server.ts";

/** Serves a prompt by a name. `listing`: its entry in a list, with any name. */
export function servePrompt(name: string, listing: AdvertisedPrompt, get: ServedPrompt["get"]): ServedPrompt {
  const { arguments: args = [], ...others } = listing;
  return {
    name,
    listing: { ...others, name, arguments: args.length > 0 ? args : undefined },
    required: args.filter(({ required }) => required).map((one) => one.name),
    get,
  };
}
