// What a pack's definition files say. A file of data (.json, .yaml, .yml) holds one such object; a file of code
// (.mjs, .js, .cjs) exports one by default and may have functions for handlers.
import type { PromptHandler, ToolHandler } from "./handlers.ts";
import type { ObjectSchema, PromptMessage, ToolAnnotations } from "./mcp.ts";
import type { TrailblazeToolMeta } from "./tool-meta.ts";

/** A module inside the package and one of its exports, `./lib/tools.js#createIssue`; without `#` its default export. */
export type ModuleReference = `./${string}`;

/** A parameter in the short form: a JSON Schema that says itself whether it is required. */
export type ParameterDefinition = { required?: boolean; [keyword: string]: unknown };

/** An option of a tool, whose value the user's config may set. */
export type OptionDefinition = { default?: unknown; description?: string };

interface ToolFields<Args extends object> {
  /** The advertised name, what clients and models see: 1 to 64 of `A-Za-z0-9_-`. */
  name: string;
  title?: string;
  /** For models and people: what the tool does, and when to use it. */
  description?: string;
  /** Schema of `structuredContent`. A result that breaks it counts as a failure. */
  outputSchema?: ObjectSchema;
  annotations?: ToolAnnotations;
  _meta?: TrailblazeToolMeta;
  /** A reference; in code also the function itself. */
  handler: ModuleReference | ToolHandler<Args>;
  /** Runs once per process before the first call, and never while a pack is only looked at. */
  initialize?: ModuleReference | (() => unknown);
  options?: { [name: string]: OptionDefinition };
}

/** The definition of a tool. `Args` types the arguments of a handler that is a function. */
export type ToolDefinition<Args extends object = Record<string, unknown>> = ToolFields<Args> &
  (
    | { inputSchema: ObjectSchema; parameters?: never }
    /** The short form of `inputSchema`: parameters by name. */
    | { parameters: { [name: string]: ParameterDefinition }; inputSchema?: never }
  );

/** A server that the host itself serves, made of tools and prompts. Lists hold references. */
export interface ComposedServerDefinition {
  /** Default: the item's name. */
  name?: string;
  /** Default: the package's. */
  version?: string;
  description?: string;
  tools?: string[];
  toolsets?: string[];
  prompts?: string[];
  /** Default: `stdio`. */
  transport?: "stdio" | "http";
  /** Runs once when the server starts, before the tools' own. */
  initialize?: ModuleReference | (() => unknown);
  /** What clients tell the model about the server as a whole. */
  instructions?: string;
  /** Key of the server in a client's config, if the user names none. */
  mcpServerName?: string;
}

interface SubprocessFields {
  name?: string;
  version?: string;
  description?: string;
  args?: string[];
  /** Folder to run in, inside the package. Default: its root. */
  cwd?: string;
  /** Variables for the server's environment. */
  env?: { [name: string]: string };
  /** Names of variables that it gets from the host's environment. */
  envPassthrough?: string[];
  /** Whether calls carry `_trailblazeContext` in their arguments. Default: true. */
  legacyContext?: boolean;
  /** Key of the server in a client's config, if the user names none. */
  mcpServerName?: string;
}

/** A standard MCP server that runs as a process of its own: a command, or a script for the host's Node. */
export type SubprocessServerDefinition = SubprocessFields &
  ({ command: string; script?: never } | { script: ModuleReference; command?: never });

/** A server as a document: names bundles of tools, which it serves over stdio or HTTP. */
export interface ServerDocument {
  kind: "Mcp.StdioServer" | "Mcp.HttpEndpoint";
  metadata: { name: string };
  /** What clients are told. Defaults: the item's name, the package's version. */
  serverInfo?: { name?: string; version?: string };
  instructions?: string;
  /** Key of the server in a client's config, if the user names none. */
  mcpServerName?: string;
  /** Toolsets that are bundles: references. */
  tools: string[];
}

export type ServerDefinition = ComposedServerDefinition | SubprocessServerDefinition | ServerDocument;

/** How a bundle answers an error that a handler throws. `${{ … }}` in texts is CEL over `error` and `request`. */
export interface ToolsBundleCatch {
  /** The `code` of the error. Absent: any, and errors without a code. */
  code?: string;
  /** Matches only where this is exactly true. */
  when?: string;
  /** The JSON-RPC error to answer with: `code` an integer, by convention -32001 and below, or what makes one. */
  error: { code: number | string; message?: string; data?: unknown };
}

/** A tool of a bundle. `${{ … }}` in texts is CEL. */
export interface ToolsBundleEntry {
  /** The advertised name. */
  name: string;
  title?: string;
  description?: string;
  argumentsSchema?: ObjectSchema;
  outputSchema?: ObjectSchema;
  annotations?: ToolAnnotations;
  _meta?: TrailblazeToolMeta;
  /** A tool, or a module and its export. */
  handler: string;
  /** What the handler gets, made from `request`. Default: the arguments as they are. */
  inputs?: unknown;
  /** The whole answer, made from `result`, which the handler returned. Default: as for a tool. */
  result?: unknown;
  /** The first that matches counts. */
  catches?: ToolsBundleCatch[];
}

/** A toolset as a document: tools with their own schemas, and how calls and results are translated. */
export interface ToolsBundle {
  kind: "Mcp.Tools";
  metadata: { name: string };
  description?: string;
  entries: ToolsBundleEntry[];
}

/** A named group of tools. Lists hold references. */
export type ToolsetDefinition =
  | { name: string; description?: string; tools?: string[]; toolsets?: string[] }
  | ToolsBundle;

/** An argument of a prompt. Arguments of prompts are texts. */
export interface PromptArgumentDefinition {
  name: string;
  description?: string;
  /** Default: false. */
  required?: boolean;
}

interface PromptFields {
  name: string;
  title?: string;
  description?: string;
  arguments?: PromptArgumentDefinition[];
}

/** The definition of a prompt. `Args` types the arguments of a handler that is a function. */
export type PromptDefinition<Args extends object = Record<string, string>> = PromptFields &
  (
    | {
        /** A text with `{{argument}}` places, or messages with such places. */
        content: string | PromptMessage[];
        handler?: never;
      }
    | { handler: ModuleReference | PromptHandler<Args>; content?: never }
  );
