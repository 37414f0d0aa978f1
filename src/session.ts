import { openSessionByRules } from "./session/open-session.ts";
import type { Session } from "./session/session.ts";
import type { SessionOptions } from "./session/session-options.ts";

export type { TrailblazeConfig } from "./config/generated/config-type.ts";
export type { BuiltInDefinition, Device } from "./config/session-config.ts";
export { type Problem, TrailblazeError } from "./problems/index.ts";
export type {
  HandlerContext,
  HandlerMemory,
  InputAnswer,
  InputAnswers,
  InputRequest,
  InputRequests,
} from "./runtime/handler-context.ts";
export type { ToolSource } from "./runtime/tool-code.ts";
export type {
  AudioBlock,
  CallToolResult,
  ContentBlock,
  EmbeddedResourceBlock,
  ImageBlock,
  PromptMessage,
  PromptResult,
  ResourceContents,
  ResourceLinkBlock,
  ResourceResult,
  TextBlock,
  ToolResult,
  Variant,
} from "./runtime/tool-result.ts";
export type {
  CallDecision,
  CallLog,
  CallOptions,
  InputQuestion,
  OnCall,
  OnInput,
  PendingCall,
  RequestOptions as PromptOptions,
  RequestOptions as ReadOptions,
  ToolLog,
  ToolProgress,
} from "./session/host-functions.ts";
export type {
  PromptArgument,
  SessionPrompt,
  SessionResource,
  SessionSkill,
  SessionTool,
  SessionToolset,
  SkippedTool,
  SkipReason,
  ToolInputSchema,
} from "./session/items.ts";
export type { CallParameters, InstalledTools, Session, ToolName, ToolResultOf } from "./session/session.ts";
export type { SessionChange } from "./session/session-frame.ts";
export type { RecordedCall } from "./session/session-memory.ts";
export type {
  AwaitedServer,
  RemoteAddress,
  SessionOptions,
  StartedCommand,
} from "./session/session-options.ts";
export type { SessionServerState } from "./session/session-state.ts";
export type { FoundTool, LlmToolsOptions, SearchOptions } from "./session/tool-search.ts";

/**
 * Opens a session with the tools of a project's installed packs and of the config's servers.
 *
 * Trust level: execution. Starts the servers of selected packs and of the config; loads packs' code when it is called.
 * Unusable items of packs are excluded and reported in `skipped` and `problems`. With `install`, or if the config's
 * `packs.autoInstall` allows it, missing packs that the session refers to are installed first.
 *
 * If the session cannot start, rejects with a `TrailblazeError` after ending everything it started: `ProjectNotFound`,
 * `InvalidConfig`, `ServerStartFailed` (for servers of the config), `NameCollision`, `ToolsetNotFound`; or with the
 * reason of `signal`.
 */
export async function openSession(options: SessionOptions = {}): Promise<Session> {
  return openSessionByRules(options, { mode: "host", installs: true });
}
