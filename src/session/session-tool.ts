import type { Problem } from "../problems/index.ts";
import type { RunnableTool } from "../runtime/bundle.ts";
import type { ToolSource } from "../runtime/tool-code.ts";
import type { ToolMeta } from "../runtime/tool-meta.ts";
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
  /** Has `trailblaze/originalName`, the server's own name, if clients would reject that. It can also be called by it. */
  _meta?: { "trailblaze/originalName": string };
  isForLlm: boolean;
  isRecordable: boolean;
  /** Short names of the toolsets it belongs to. */
  toolsets: string[];
}

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
  /** It can be called only as a task, which sessions do not support. */
  | "TaskRequired"
  /** trailblaze.lock does not approve it. */
  | "NotApproved"
  /** trailblaze.lock approves it, but it is no longer there. */
  | "LockOutdated";

/** A tool, or a server with its tools, that the session excludes. */
export interface SkippedTool {
  /** The advertised name if it is known, otherwise the name of the item or the server. */
  name: string;
  source: ToolSource;
  reason: SkipReason;
  message: string;
}

/** What is excluded, with the problem that is its reason if calls fail with it. */
export interface Skipped extends SkippedTool {
  problem?: Problem;
}

/** A named group of a session's tools. */
export interface SessionToolset {
  /** Short name. */
  name: string;
  /** Advertised names. */
  tools: string[];
}

/** How a tool's calls are executed. */
export type ToolRoute =
  | ({ by: "code" } & RunnableTool)
  | {
      by: "server";
      from: ServerSource;
      advertisedName: string;
      /** Whether calls carry `_trailblazeContext` in their arguments. */
      legacyContext: boolean;
    };

/** A tool and what its registration and its calls need. */
export interface ToolCandidate {
  tool: SessionTool;
  /** Its definition, or its entry in its server's `tools/list`. */
  definition: object;
  meta: ToolMeta;
  route: ToolRoute;
  /** Qualified name of the bundle that it is an entry of. */
  bundle?: string;
  /** The toolset that the config puts it into. */
  toolset?: string;
}

/** A recorded call: the advertised name, and the arguments of the call. */
export type RecordedCall = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The calls that succeeded and can be replayed. */
export class Recording {
  readonly #redact: (args: RecordedCall[string]) => RecordedCall[string];
  readonly #calls: RecordedCall[] = [];
  /** The name and the JSON of the arguments of each further call; parsed when somebody asks, for the speed of calls. */
  readonly #pending: [string, string][] = [];

  constructor(redact: (args: RecordedCall[string]) => RecordedCall[string]) {
    this.#redact = redact;
  }

  note(name: string, json: string): void {
    this.#pending.push([name, json]);
  }

  get calls(): readonly RecordedCall[] {
    for (const [name, json] of this.#pending.splice(0))
      this.#calls.push({ [name]: this.#redact(JSON.parse(json)) });
    return this.#calls;
  }
}

/** The recording as YAML for `trailblaze run`: an array, so that recordings can be concatenated. */
export async function formatRecording(calls: readonly RecordedCall[]): Promise<string> {
  if (calls.length === 0) return "";
  const { stringify } = await import("yaml");
  return stringify(calls, { lineWidth: 0, aliasDuplicateObjects: false });
}
