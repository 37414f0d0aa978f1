import type { Problem } from "../problems/index.ts";
import { searchToolName } from "../qualified-names/advertised-names.ts";
import { abortable } from "../runtime/abort-listeners.ts";
import type { PromptResult, ResourceResult, ToolResult } from "../runtime/tool-result.ts";
import type { CallRequest } from "./calls.ts";
import type { CallOptions, RequestOptions } from "./host-functions.ts";
import type {
  SessionPrompt,
  SessionResource,
  SessionSkill,
  SessionTool,
  SessionToolset,
  SkippedTool,
} from "./items.ts";
import type { SessionFrame } from "./session-frame.ts";
import type { RecordedCall } from "./session-memory.ts";
import type { SessionServerState, SessionState } from "./session-state.ts";
import {
  type FoundTool,
  type LlmToolsOptions,
  refuseSearchName,
  type SearchOptions,
  searchTools,
  ToolSearch,
} from "./tool-search.ts";

/**
 * The tools that `callTool` knows by name. Empty here: `trailblaze types` generates a declaration that adds the installed
 * tools under their advertised names:
 *
 *     declare module "trailblaze/session" {
 *       interface InstalledTools {
 *         jira_getIssue: { arguments: { issueKey: string }; result: { summary: string } };
 *       }
 *     }
 *
 * `result` is the type of `structuredContent`; it is optional.
 */
// biome-ignore lint/suspicious/noEmptyInterface: declarations are merged into it
export interface InstalledTools {}

/** The name of a tool; editors suggest the known ones. */
export type ToolName = (keyof InstalledTools & string) | (string & {});

type ArgumentsOf<Name> = Name extends keyof InstalledTools
  ? InstalledTools[Name] extends { arguments: infer Args }
    ? Args
    : unknown
  : unknown;

/** The rest of the parameters of `callTool`. Arguments are optional if they have no required properties. */
export type CallParameters<Name> =
  Record<never, never> extends ArgumentsOf<Name>
    ? [args?: ArgumentsOf<Name>, options?: CallOptions]
    : [args: ArgumentsOf<Name>, options?: CallOptions];

/** The result of a tool; `structuredContent` has its type if the tool is known and declares it. */
export type ToolResultOf<Name> = Name extends keyof InstalledTools
  ? InstalledTools[Name] extends { result: infer Structured }
    ? Omit<ToolResult, "structuredContent"> & { structuredContent?: Structured }
    : ToolResult
  : ToolResult;

/** One run of a host: its tools, its memory and its processes, from `openSession` to `close`. */
export class Session implements AsyncDisposable {
  /** A UUID. */
  readonly id: string;
  /** Absolute path of the folder with the logs of its processes. */
  readonly logDir: string;
  /** A `Map` of strings. */
  readonly memory: Map<string, string>;
  readonly #frame: SessionFrame;
  readonly #search: ToolSearch;

  /** @internal Hosts open sessions with `openSession`. */
  constructor(frame: SessionFrame) {
    const { id, logDir, memory } = frame;
    this.#frame = frame;
    this.#search = new ToolSearch(() => frame);
    this.id = id;
    this.logDir = logDir;
    this.memory = memory;
  }

  /** The successful calls so far that can be replayed. Sensitive values are redacted. */
  get recording(): readonly RecordedCall[] {
    const { recorded, memory } = this.#frame;
    return recorded.map(({ name, json }) => ({ [name]: memory.redact(JSON.parse(json)) }));
  }

  /** @internal What serving a session needs; hosts do not see it. */
  static frameOf(session: Session): SessionFrame {
    return session.#frame;
  }

  get #state(): SessionState {
    return this.#frame.state();
  }

  /** Every registered tool: built-ins, tools of the config's servers, tools of packs by name; each in declared order. */
  get tools(): readonly SessionTool[] {
    return this.#state.tools;
  }

  /** The toolsets of the config and of packs, and those that tools name. */
  get toolsets(): readonly SessionToolset[] {
    return this.#state.parts.toolsets;
  }

  /** The MCP servers of the config and of packs, with their states at the moment. */
  get servers(): readonly SessionServerState[] {
    return this.#state.servers;
  }

  /**
   * Starts a server now, which would start when it is needed; resolves when it is ready. `label`: its name in the config, or its
   * qualified name. Trust level: execution.
   *
   * Rejects with a `TrailblazeError` `ServerNotFound`, `NotApproved`, `LockMismatch` or `SessionClosed`. If the server does not
   * start, the code is `ServerStartFailed`, or a more precise one, such as `AuthorizationRequired` or `ServerPackageNotInstalled`.
   */
  async start(label: string): Promise<void> {
    const { server } = this.#state.findServer(String(label));
    await abortable(this.#frame.resources.closing, async () => server?.start({ forced: true }));
    // What it lists may exclude it.
    this.#state.findServer(String(label));
  }

  /** Every tool that is installed but not registered, and why. */
  get skipped(): readonly SkippedTool[] {
    return this.#state.skipped;
  }

  /** The problems at the start and since. After a change, those of the project as it is now, and those reported since. */
  get problems(): readonly Problem[] {
    return [...this.#state.parts.problems, ...this.#frame.reported];
  }

  /**
   * The tools for a model: those of the selected toolsets, or all, without those that are not for models.
   *
   * With `above` or `always`, a model does not get more than `above` of them at once (default: 30), but `always`, the tool
   * `search_tools`, and what that has found in this session so far. A call of any other tool works all the same. Throws
   * `TrailblazeError` `NameCollision` if a tool is called `search_tools`; an unknown name in `always` is the problem
   * `UnmatchedPattern`.
   */
  toolsForLlm(options: LlmToolsOptions = {}): SessionTool[] {
    if (options.above === undefined && options.always === undefined) return this.#state.toolsForLlm();
    refuseSearchName(this.#state);
    return this.#search.list(options);
  }

  /**
   * The tools for models that fit a text best, at most 5 or `limit`: by words of the name, the title, the description, the
   * names of parameters, and the toolsets. Words may be misspelled or incomplete. A tool with the text as its name is the
   * first. Throws `TrailblazeError` `InvalidArguments` and `ToolsetNotFound`.
   */
  searchTools(text: string, options: SearchOptions = {}): FoundTool[] {
    return searchTools(this.#state, text, options);
  }

  /**
   * Calls a tool by its advertised name, its qualified name, or `LABEL/TOOL` for a server of the config. Trust level:
   * execution.
   *
   * Resolves even if the tool fails: `variant` says how the call ended. Arguments that are no object, as models sometimes
   * write, are such a failure, and `undefined` is `{}`. If a server had to start for the call and could not, or lists the tool
   * otherwise than approved, `details.code` is `ServerStartFailed`, `NotApproved` or `LockOutdated`; `CallDenied` if the call was
   * denied. For the tools in
   * `InstalledTools`, which `trailblaze types` declares, the compiler checks the arguments. Rejects with a `TrailblazeError`
   * `ToolNotFound`, `ServerNotFound`, `AmbiguousName`, `NotApproved`, `LockOutdated`, `LockMismatch` or `SessionClosed`, or with
   * the reason of `signal`.
   */
  async callTool<Name extends ToolName>(
    name: Name,
    ...call: CallParameters<Name>
  ): Promise<ToolResultOf<Name>> {
    const [args, options = {}]: [args?: unknown, options?: CallOptions] = call;
    const request = this.#request(options);
    if (name === searchToolName && this.#search.isUsed) {
      refuseSearchName(request.state);
      return this.#search.call(args) as ToolResultOf<Name>;
    }
    const tool = request.state.resolve(name);
    // The declared types are what the tool promises: sessions do not check them for tools of servers.
    return this.#frame.calls.callTool(tool, args, request) as Promise<ToolResultOf<Name>>;
  }

  /**
   * The tool that `callTool` calls by this name. Starts servers that have not started if one of them may have the tool. Rejects
   * with a `TrailblazeError`: `ToolNotFound` with similar names, `ServerNotFound`, `AmbiguousName`.
   */
  async resolveTool(name: string): Promise<SessionTool> {
    return (await this.#frame.states.resolve(this.#state, name)).shown;
  }

  /** The prompts of packs and servers, in the order of their tools. */
  get prompts(): readonly SessionPrompt[] {
    return this.#state.of("prompt").map(({ shown }) => shown);
  }

  /**
   * The messages of a prompt, by its advertised name, its qualified name, or `LABEL/PROMPT` for a server of the config. Trust
   * level: execution.
   *
   * Rejects with a `TrailblazeError` `PromptNotFound`, `InvalidArguments` for a missing argument or one that is no string,
   * `PromptFailed`, `InputRequired`, `NameCollision` or `SessionClosed`, or with the reason of `signal`. For a prompt of a server
   * also with `NotApproved` or `LockOutdated`, or, if it starts for this, with `ServerStartFailed` or `LockMismatch`.
   */
  async getPrompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: RequestOptions = {},
  ): Promise<PromptResult> {
    const request = this.#request(options);
    return this.#frame.calls.getPrompt(request.state.parts.names.prompt.resolve(String(name)), args, request);
  }

  /** The resources of packs and servers, and the templates of resources, in the order of their tools. */
  get resources(): readonly SessionResource[] {
    return this.#state.of("resource").map(({ shown }) => shown);
  }

  /**
   * What a resource contains, by its URI: one of `resources`, one that a template has, or one that a result links to. Bytes
   * are in base64. Trust level: execution.
   *
   * Rejects with a `TrailblazeError` `ResourceNotFound`, `ResourceFailed`, `InputRequired` or
   * `SessionClosed`, or with the reason of `signal`. For a resource of a server also with `NotApproved`, or, if it starts for
   * this, with `ServerStartFailed` or `LockMismatch`.
   */
  async readResource(uri: string, options: RequestOptions = {}): Promise<ResourceResult> {
    const request = this.#request(options);
    const { isStatic: _, ...result } = await this.#frame.calls.readResource(String(uri), request);
    return result;
  }

  /** The skills of packs and of servers, as far as they are approved. Those that are left out are in `skipped`. */
  get skills(): readonly SessionSkill[] {
    return this.#state.of("skill").map(({ shown }) => shown);
  }

  /**
   * The text of a skill's `SKILL.md`, or of another of its files; bytes of a file that is not UTF-8. `name`: its name, its
   * qualified name, or `LABEL/NAME` for a skill of a server. Trust level: execution.
   *
   * Rejects with a `TrailblazeError` `SkillNotFound`, `AmbiguousName`, `NotApproved` if the file is not what the session has
   * found and the lock approves, or `SessionClosed`, or with the reason of `signal`. For a skill of a server also with
   * `ResourceFailed`, `ResourceNotFound` or `ServerStartFailed`.
   */
  async readSkill(
    name: string,
    { file = "SKILL.md", ...options }: RequestOptions & { file?: string | undefined } = {},
  ): Promise<string | Uint8Array> {
    const request = this.#request(options);
    const skill = request.state.parts.names.skill.resolve(String(name));
    return this.#frame.calls.readSkillFile(skill, String(file), request);
  }

  /** A request of the host. Throws the reason why none can begin. */
  #request({ signal, timeoutMs, onProgress, onLog }: CallOptions): CallRequest {
    this.#frame.resources.closing.throwIfAborted();
    signal?.throwIfAborted();
    return { scope: this.#frame.calls.own, state: this.#state, signal, timeoutMs, onProgress, onLog };
  }

  /** Ends the session: stops its processes, and rejects its open calls. Idempotent. */
  close(): Promise<void> {
    return this.#frame.resources.close();
  }

  /** The same as `close`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
