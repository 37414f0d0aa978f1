import type { RunnableTool } from "../runtime/bundle-tools.ts";
import type { ToolMeta } from "../runtime/tool-meta.ts";
import type { ToolSource } from "../runtime/tool-source.ts";
import type { SessionServer } from "./session-servers.ts";

/** A tool of a session, as its users see it. Texts are the author's own and not to be trusted. */
export interface SessionTool {
  /** The advertised name, by which it is called. */
  name: string;
  /** A built-in's is its name; `null` for tools of subprocess servers. */
  qualifiedName: string | null;
  source: ToolSource;
  title?: string;
  description: string | null;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown>;
  annotations?: Record<string, unknown>;
  isForLlm: boolean;
  isRecordable: boolean;
  /** Short names of the toolsets it belongs to. */
  toolsets: string[];
}

/** Why a tool, or a server with its tools, is not in a session. */
export type SkipReason =
  /** It needs an agent that runs on the host. */
  | "RequiresHost"
  | "DriverUnsupported"
  | "PlatformUnsupported"
  /** Its pack is for other versions of Trailblaze. */
  | "HostVersionUnsupported"
  /** The config's `packs` shuts it out. */
  | "Denied"
  /** Only other packages name its pack, and nothing taken refers to it. */
  | "NotTaken"
  /** Its definition has an error. */
  | "Invalid"
  /** Its server did not start. */
  | "ServerFailed";

export interface SkippedTool {
  /** The advertised name where it is known, else the item's or the server's. */
  name: string;
  source: ToolSource;
  reason: SkipReason;
  message: string;
}

/** A named group of a session's tools. */
export interface SessionToolset {
  /** Short name. */
  name: string;
  /** Advertised names. */
  tools: string[];
}

/** What carries out the calls of a tool. */
export type ToolRoute =
  | ({ by: "code" } & RunnableTool)
  | {
      by: "server";
      server: SessionServer;
      advertisedName: string;
      /** Whether calls carry `_trailblazeContext` in their arguments. */
      legacyContext: boolean;
    };

/** A tool with what registration and calls need. */
export interface ToolCandidate {
  tool: SessionTool;
  meta: ToolMeta;
  route: ToolRoute;
  /** Qualified name of the bundle that it is an entry of. */
  bundle?: string;
}

/** A call of a recording: the advertised name, and the arguments it was given. */
export type RecordedCall = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** As YAML that `trailblaze run` replays: a list, so that recordings can be appended to each other. */
export async function formatRecording(calls: readonly RecordedCall[]): Promise<string> {
  if (calls.length === 0) return "";
  const { stringify } = await import("yaml");
  return stringify(calls, { lineWidth: 0, aliasDuplicateObjects: false });
}
