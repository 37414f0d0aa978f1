import type { Kind } from "../kinds.ts";
import type { Prompt } from "../mcp/client/server-lists.ts";
import type { Problem } from "../problems/index.ts";
import type { RunnableTool } from "../runtime/bundle.ts";
import type { CodeOwner, ToolSource } from "../runtime/tool-code.ts";
import type { ToolMeta } from "../runtime/tool-meta.ts";
import type { Skill } from "../skills/read-skill.ts";
import type { SkillEntry, SkillFile } from "../skills/skill-entry.ts";
import type { PackPrompt, PackResource } from "./collect-items.ts";
import type { ServerSource } from "./server-source.ts";

/** The JSON Schema of a tool's arguments, which are an object. Only `type` is certain: the author wrote the rest. */
export type ToolInputSchema = { type: "object" } & Record<string, unknown>;

/** A tool of a session, as its users see it. Its strings are the author's and not trusted. */
export interface SessionTool {
  /** The advertised name, by which it is called. */
  name: string;
  /** The name, for a built-in; `null` for tools of subprocess servers. */
  qualifiedName: string | null;
  source: ToolSource;
  title?: string;
  /** Missing if the tool has none. */
  description?: string;
  /** A JSON Schema; `{ type: "object" }` for a tool without arguments. */
  inputSchema: ToolInputSchema;
  outputSchema?: Record<string, unknown>;
  annotations?: Record<string, unknown>;
  /**
   * The author's `_meta`, without keys of Trailblaze. Has `trailblaze/originalName`, the server's own name, if clients would reject
   * that. It can also be called by it.
   */
  _meta?: { "trailblaze/originalName"?: string; [key: string]: unknown };
  isForLlm: boolean;
  isRecordable: boolean;
  /** Short names of the toolsets it belongs to. */
  toolsets: string[];
}

/** An argument of a prompt; its value is a string. */
export interface PromptArgument {
  name: string;
  title?: string;
  description?: string;
  required?: boolean;
}

/** A prompt of a session, as its users see it. Its strings are the author's and not trusted. */
export interface SessionPrompt {
  /** The advertised name, by which it is got. */
  name: string;
  /** `null` for a prompt of a subprocess or remote server. */
  qualifiedName: string | null;
  source: ToolSource;
  title?: string;
  description?: string | undefined;
  arguments: PromptArgument[];
  /** Has `trailblaze/originalName`, the server's own name, if clients would reject that. It can also be got by it. */
  _meta?: { "trailblaze/originalName": string };
}

/** A resource of a session, or a template of resources. Its strings are the author's and not trusted. */
export interface SessionResource {
  /** Either this or `uriTemplate`. */
  uri?: string;
  /** A URI with places for variables, such as `docs://{page}`. */
  uriTemplate?: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  annotations?: Readonly<Record<string, unknown>>;
  /** As in tools. */
  _meta?: Readonly<Record<string, unknown>>;
  source: ToolSource;
}

/** A skill of a session: instructions for models. Its strings are the author's and not trusted. */
export interface SessionSkill {
  name: string;
  /** `null` for a skill of a server. */
  qualifiedName: string | null;
  description: string;
  source: ToolSource;
  /** Empty for a skill of a server that does not say which files it has. */
  files: readonly SkillFile[];
}

/** How an item is answered: by code of its owner, or by a server. `id`: its name or URI, as its source writes it. */
export type Route<Code> =
  | { by: "code"; owner: CodeOwner; id: string; code: Code }
  | { by: "server"; from: ServerSource; id: string };

export type ResourceRoute = Route<PackResource>;

/** The server or pack that answers, in URIs of apps; `undefined` for the host. */
export const labelOf = (route: Route<unknown>): string | undefined =>
  route.by === "server" ? route.from.plan.label : route.owner.pack?.qualifiedName;

/** Tells makers of links apart: a server's key has a space. */
export const makerOf = (route: Route<unknown>): string | undefined =>
  route.by === "server" ? route.from.plan.key : route.owner.pack?.name;

export interface Offered<Kind, Shown, Listing, Code> {
  kind: Kind;
  /** As users of the session see it. */
  shown: Shown;
  /** As MCP lists it, with any name; of a tool the definition. */
  listing: Listing;
  route: Route<Code>;
}

export interface ToolItem extends Offered<"tool", SessionTool, object, RunnableTool> {
  meta: ToolMeta;
  /** Qualified name of the bundle that it is an entry of. */
  bundle?: string;
  /** The toolset that the config puts it into. */
  toolset?: string | undefined;
  /** Whether calls of its server carry `_trailblazeContext` in their arguments. */
  legacyContext?: boolean;
}

export type SkillItem = Offered<"skill", SessionSkill, SkillEntry, Skill>;

export type SessionItem =
  | ToolItem
  | Offered<"prompt", SessionPrompt, Prompt, PackPrompt>
  | Offered<"resource", SessionResource, Readonly<Record<string, unknown>>, PackResource>
  | SkillItem;

export type ItemOf<Kind extends SessionItem["kind"]> = Extract<SessionItem, { kind: Kind }>;

export const isOf =
  <Kind extends SessionItem["kind"]>(kind: Kind) =>
  (item: SessionItem): item is ItemOf<Kind> =>
    item.kind === kind;

/** Why a tool, or a server and its tools, is not in a session. */
export type SkipReason =
  /** It requires an agent that runs on the host. */
  | "RequiresHost"
  | "DriverUnsupported"
  | "PlatformUnsupported"
  /** Its pack requires a different version of Trailblaze. */
  | "HostVersionUnsupported"
  /** The config's `packs`, or `tools` of its server, excludes it. */
  | "Denied"
  /** Its pack is only a transitive dependency, and no selected item refers to it. */
  | "NotTaken"
  /** Its definition is invalid. */
  | "Invalid"
  /** Its server failed to start. */
  | "ServerFailed"
  /** A server in `servers`: it requires authorization. */
  | "AuthorizationRequired"
  /** It can be called only as a task, which sessions do not support. */
  | "TaskRequired"
  /** trailblaze.lock does not approve it. */
  | "NotApproved"
  /** trailblaze.lock approves it, but it is no longer there. */
  | "LockOutdated";

/** A tool, a server with its tools, or a skill, that the session excludes. */
export interface SkippedTool {
  /** Set for a skill. */
  kind?: "skill" | undefined;
  /** The advertised name if it is known, otherwise the name of the item or the server. */
  name: string;
  source: ToolSource;
  reason: SkipReason;
  message: string;
}

export interface Skipped extends Omit<SkippedTool, "kind"> {
  kind: Kind;
  /** Its reason, if calls fail with it. */
  problem?: Problem | undefined;
}

/** Why something is left out. */
export type LeftOut = Pick<Skipped, "reason" | "message" | "problem">;

/** A named group of a session's tools. */
export interface SessionToolset {
  /** Short name. */
  name: string;
  /** Advertised names. */
  tools: string[];
}

export interface Contribution {
  items: SessionItem[];
  skipped: Skipped[];
  problems: Problem[];
}

export const contribute = (parts: Partial<Contribution> = {}): Contribution => ({
  items: [],
  skipped: [],
  problems: [],
  ...parts,
});

/** Only excluded tools, servers and skills are reported: toolsets and prompts offer nothing by themselves. */
export const isReported = (kind: Kind | undefined): kind is "tool" | "server" | "skill" =>
  kind === "tool" || kind === "server" || kind === "skill";

function reasonOf({ code, args }: Problem): SkipReason {
  if (code === "NotApproved") return args.state === "denied" ? "Denied" : "NotApproved";
  return code === "LockOutdated" ? code : "Invalid";
}

export function describeUnusable(
  kind: Kind,
  name: string,
  source: ToolSource,
  problem: Problem | undefined,
): Skipped {
  const reason = problem === undefined ? "Invalid" : reasonOf(problem);
  const message = problem?.message ?? "Its definition is invalid.";
  return { kind, name, source, reason, message, problem: reason === "Invalid" ? undefined : problem };
}

/** Whether an item with this problem is not approved, valid or not. */
export const isRefusal = (problem: Problem): boolean => reasonOf(problem) !== "Invalid";

/** The approved tools, servers and skills of packs that are no longer there, from their problems. */
export const collectVanished = (problems: readonly Problem[]): Skipped[] =>
  problems.flatMap((problem) => {
    const { code, pack, kind, item } = problem;
    if (code !== "LockOutdated" || pack === undefined || item === undefined || !isReported(kind)) return [];
    const source: ToolSource = { type: "pack", pack, item, ...(kind === "server" ? { server: item } : {}) };
    return [describeUnusable(kind, item, source, problem)];
  });
