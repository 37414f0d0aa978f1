import type { AdvertisedPrompt } from "../mcp/client/connected-server.ts";
import type { CodeOwner, ToolSource } from "../runtime/tool-code.ts";
import type { PackPrompt, PromptTexts } from "./pack-prompt.ts";
import type { ServerSource } from "./server-source.ts";

/** A prompt of a session, as its users see it. Its strings are the author's and not trusted. */
export interface SessionPrompt extends PromptTexts {
  /** The advertised name, by which it is got. */
  name: string;
  /** `null` for a prompt of a subprocess or remote server. */
  qualifiedName: string | null;
  source: ToolSource;
  /** Has `trailblaze/originalName`, the server's own name, if clients would reject that. It can also be got by it. */
  _meta?: { "trailblaze/originalName": string };
}

/** How a prompt is got. */
export type PromptRoute =
  | { by: "code"; owner: CodeOwner; prompt: PackPrompt }
  | { by: "server"; from: ServerSource; advertisedName: string };

/** A prompt and what its registration and its requests need. */
export interface PromptCandidate {
  prompt: SessionPrompt;
  /** As MCP lists it, with any name. */
  listing: AdvertisedPrompt;
  route: PromptRoute;
}
