// The contents of a pack's definition files. A data file (.json, .yaml, .yml) contains one such object; a code file
// (.mjs, .js, .cjs) has it as its default export, and its handlers may be functions.
import type { HandlerContext, PromptHandler, ToolHandler } from "./handlers.ts";
import type { ObjectSchema, PromptMessage, ToolAnnotations } from "./mcp.ts";
import type { CompletionSource } from "./resources.ts";
import type { TrailblazeToolMeta } from "./tool-meta.ts";

/** A module inside the package and its export, `./lib/tools.js#createIssue`; without `#`, its default export. */
export type ModuleReference = `./${string}`;

/** A parameter in the short form: a JSON Schema with `required` in it. */
export type ParameterDefinition = { required?: boolean; [keyword: string]: unknown };

/** An option of a tool, which the user's config can set. */
export type OptionDefinition = { default?: unknown; description?: string };

/** What definitions of tools have in common, but for handlers and schemas. */
export interface ToolFields {
  /** The advertised name, which clients and models see: 1 to 64 characters of `A-Za-z0-9_-`. */
  name: string;
  title?: string;
  /** For models and people: what the tool does, and when to use it. */
  description?: string;
  annotations?: ToolAnnotations;
  _meta?: TrailblazeToolMeta;
  /** Runs once per process before the first call, and never during inspection. */
  initialize?: ModuleReference | (() => unknown);
  options?: { [name: string]: OptionDefinition };
}

/** The definition of a tool. `Args` is the type of a handler function's arguments. */
export type ToolDefinition<Args extends object = Record<string, unknown>> = ToolFields & {
  /** Schema of `structuredContent`. A result that does not match it counts as a failure. */
  outputSchema?: ObjectSchema;
  /** A reference; in code, the function itself is allowed, too. */
  handler: ModuleReference | ToolHandler<Args>;
} & (
    | { inputSchema: ObjectSchema; parameters?: never }
    /** The short form of `inputSchema`: parameters by name. */
    | { parameters: { [name: string]: ParameterDefinition }; inputSchema?: never }
  );

interface ServerFields {
  /** Default: the item's name. */
  name?: string;
  /** Default: the package's. */
  version?: string;
  description?: string;
  /** Key of the server in a client's config, unless the user chooses one. */
  mcpServerName?: string;
}

/** A server that the host serves, composed of tools, prompts and resources. Arrays contain references. */
export interface ComposedServerDefinition extends ServerFields {
  tools?: string[];
  toolsets?: string[];
  prompts?: string[];
  resources?: string[];
  skills?: string[];
  /** Default: `stdio`. */
  transport?: "stdio" | "http";
  /** The clients to serve: `modern` from revision 2026-07-28 of MCP on, `legacy` before it. Default: `both`. */
  protocol?: "both" | "modern" | "legacy";
  /** Runs once when the server starts, before the tools' own. */
  initialize?: ModuleReference | (() => unknown);
  /** Instructions for the model about the server as a whole. */
  instructions?: string;
  /** When sessions start it: when they open, or at the first call that needs it, if trailblaze.lock has its lists. */
  start?: "eager" | "lazy";
  /** Sessions end it after this time without a call, in milliseconds; the next call starts it again. */
  idleMs?: number;
}

interface SubprocessFields extends ServerFields {
  args?: string[];
  /** The folder to run in, inside the package. Default: its root. */
  cwd?: string;
  /** Variables for the server's environment. */
  env?: { [name: string]: string };
  /** Names of variables that the server inherits from the host's environment. */
  envPassthrough?: string[];
  /** The revisions of MCP that it speaks: `modern` from 2026-07-28 on, `legacy` before it. Default: `auto`, which asks. */
  protocol?: "auto" | "legacy" | "modern";
  /** Whether it gets the session's memory and device with each call, and the address for callbacks. Default: true, but false with `package`. */
  context?: boolean;
  /** Whether calls with the context have `_trailblazeContext` in their arguments. Default: true. */
  legacyContext?: boolean;
  /** Its timeouts in milliseconds instead of those of the user's config; -1 is none. */
  timeouts?: { handshakeMs?: number; listMs?: number; callMs?: number };
}

/** A standard MCP server in its own process: a command, a script for the host's Node, or a command of a dependency. */
export type SubprocessServerDefinition = SubprocessFields &
  (
    | { command: string; script?: never; package?: never; bin?: never }
    | { script: ModuleReference; command?: never; package?: never; bin?: never }
    /** `bin` is the name of the command. Default: the only one, or the one named like the package. */
    | { package: string; bin?: string; command?: never; script?: never }
  );

/** A server as a document: it refers to bundles of tools and is served over stdio or HTTP. */
export interface ServerDocument {
  kind: "Mcp.StdioServer" | "Mcp.HttpEndpoint";
  metadata: { name: string };
  /** Name and version for clients. Defaults: the item's name, the package's version. */
  serverInfo?: { name?: string; version?: string };
  instructions?: string;
  /** Key of the server in a client's config, unless the user chooses one. */
  mcpServerName?: string;
  /** References to toolsets that are bundles. */
  tools: string[];
}

/** Any form of a server's definition. */
export type ServerDefinition = ComposedServerDefinition | SubprocessServerDefinition | ServerDocument;

/** How a bundle answers an error of a handler. `${{ … }}` in strings is CEL over `error` and `request`. */
export interface ToolsBundleCatch {
  /** The `code` of the error. If absent: any error, with or without a code. */
  code?: string;
  /** An expression: matches only if its value is exactly true. */
  when?: string;
  /** The JSON-RPC error to answer. `code` is an integer, by convention -32001 and below, or an expression for one. */
  error: { code: number | string; message?: string; data?: unknown };
}

/** A tool of a bundle. `${{ … }}` in strings is CEL. */
export interface ToolsBundleEntry {
  /** The advertised name. */
  name: string;
  title?: string;
  description?: string;
  argumentsSchema?: ObjectSchema;
  outputSchema?: ObjectSchema;
  annotations?: ToolAnnotations;
  _meta?: TrailblazeToolMeta;
  /** A reference to a tool, or to a module and its export. */
  handler: string;
  /** The handler's arguments, computed from `request`. Default: the arguments of the call. */
  inputs?: unknown;
  /** The whole result, computed from `result`, which the handler returned. Default: as for a tool. */
  result?: unknown;
  /** The first matching entry applies. */
  catches?: ToolsBundleCatch[];
}

/** A toolset as a document: tools with their own schemas, and how calls and results are translated. */
export interface ToolsBundle {
  kind: "Mcp.Tools";
  metadata: { name: string };
  description?: string;
  entries: ToolsBundleEntry[];
}

/** A named group of tools. Arrays contain references. */
export type ToolsetDefinition =
  | { name: string; description?: string; tools?: string[]; toolsets?: string[] }
  | ToolsBundle;

/** An argument of a prompt, which is a string. */
export interface PromptArgumentDefinition {
  name: string;
  description?: string;
  /** Default: false. */
  required?: boolean;
}

/** What definitions of prompts have in common. */
export interface PromptFields {
  name: string;
  title?: string;
  description?: string;
  arguments?: PromptArgumentDefinition[];
  /** Suggestions by argument. */
  complete?: { [argument: string]: CompletionSource };
}

/** What a prompt says: content, or what a handler returns. */
export type PromptText<Args extends object, Context = HandlerContext> =
  | {
      /** A string with `{{argument}}` placeholders, or messages with placeholders. */
      content: string | PromptMessage[];
      handler?: never;
    }
  | {
      /** The function, or where it is. */
      handler: ModuleReference | PromptHandler<Args, Context>;
      content?: never;
    };

/** The definition of a prompt. `Args` is the type of a handler function's arguments. */
export type PromptDefinition<Args extends object = Record<string, string>> = PromptFields & PromptText<Args>;
