import { authorCommands } from "./author/commands-table.ts";
import type { CommandDescription, OptionDescription } from "./command.ts";
import { installCommands } from "./install/commands-table.ts";
import { remoteCommands, remoteOptions } from "./remote/commands-table.ts";
import { installOption, sessionOptions } from "./session/session-options-table.ts";

/** The options that every command has. */
export const commonOptions: Readonly<Record<string, OptionDescription>> = {
  cwd: { type: "string", placeholder: "DIR", description: "Work in this folder instead of the current one" },
  json: { type: "boolean", description: "Print one JSON document on stdout" },
  strict: { type: "boolean", description: "Let warnings fail as well" },
  help: { type: "boolean", short: "h", description: "Show this help" },
};

const kind: OptionDescription = {
  type: "string",
  placeholder: "KIND",
  description: "server, tool, toolset or prompt, where a name belongs to several",
};

const builtIns: OptionDescription = {
  type: "string",
  placeholder: "NAMES",
  description: "Names of the host's own tools, separated by commas",
};

/** How definitions that are code are treated. */
const confinement: Readonly<Record<string, OptionDescription>> = {
  "data-only": { type: "boolean", description: "Refuse definitions that are code" },
  "require-confinement": { type: "boolean", description: "Evaluate code confined or not at all" },
};

/** Every command. The help, the parser and the docs read this table. */
export const commands: Readonly<Record<string, CommandDescription>> = {
  list: {
    summary: "List the installed packs, or what they bring of one kind",
    usage: "[servers|tools|toolsets|prompts]",
    positionals: [0, 1],
    options: {
      global: { type: "boolean", short: "g", description: "Also list packs that are installed globally" },
      remote: { type: "boolean", description: "List the packs of the npm registry instead" },
      ...remoteOptions,
      "built-in": { type: "boolean", description: "Also list the tools and servers of the project's config" },
    },
    load: () => import("./commands/list.ts"),
  },
  inspect: {
    summary: "Show a pack, or one item with its definition, without running it",
    usage: "<pack|publisher/pack/item>",
    positionals: [1, 1],
    options: { kind, "built-ins": builtIns, ...confinement },
    load: () => import("./commands/inspect.ts"),
  },
  validate: {
    summary: "Find everything that is wrong with a pack",
    usage: "[folder|pack]",
    positionals: [0, 1],
    options: {
      format: {
        type: "string",
        placeholder: "FORMAT",
        description: "pretty (default), json, github or sarif",
      },
      "built-ins": builtIns,
      ...confinement,
    },
    load: () => import("./commands/validate.ts"),
  },
  tools: {
    summary: "Show the tools of a session: what a model would see, and why not the rest",
    usage: "",
    positionals: [0, 0],
    options: { ...installOption, ...sessionOptions },
    load: () => import("./commands/tools.ts"),
  },
  call: {
    summary: "Call a tool by its advertised or its qualified name",
    usage: "<tool> [key=value...]",
    positionals: [1, Number.POSITIVE_INFINITY],
    options: {
      args: {
        type: "string",
        placeholder: "JSON",
        description: "Arguments as a JSON object; - reads it from stdin",
      },
      timeout: { type: "string", placeholder: "MS", description: "Milliseconds the call may take" },
      record: {
        type: "string",
        placeholder: "FILE",
        description: "Append the call to a trail, if it succeeds",
      },
      ...installOption,
      ...sessionOptions,
    },
    load: () => import("./commands/call.ts"),
  },
  run: {
    summary: "Replay a trail of recorded calls, and stop at the first that fails",
    usage: "<trail>",
    positionals: [1, 1],
    options: {
      "keep-going": { type: "boolean", description: "Go on after a step that failed" },
      ...installOption,
      ...sessionOptions,
    },
    load: () => import("./commands/run.ts"),
  },
  start: {
    summary: "Serve a server over stdio, or over HTTP",
    usage: "<server>",
    positionals: [1, 1],
    options: {
      http: {
        type: "string",
        placeholder: "[HOST:]PORT",
        description: "Serve streamable HTTP there, at /mcp; 127.0.0.1 unless a host is named",
      },
      stdio: { type: "boolean", description: "Serve over stdio, whatever its definition says" },
      token: {
        type: "string",
        placeholder: "TEXT",
        description: "Ask for this bearer token (or TRAILBLAZE_HTTP_TOKEN)",
      },
      "no-auth": { type: "boolean", description: "Need no token on another host than this one" },
      "session-ttl": {
        type: "string",
        placeholder: "SECONDS",
        description: "End sessions without requests after this time (1800)",
      },
      "max-sessions": { type: "string", placeholder: "NUMBER", description: "Sessions at once (1000)" },
      stateless: { type: "boolean", description: "Have no sessions: each request stands for itself" },
      ...installOption,
      "all-tools": {
        type: "boolean",
        description: "Also offer tools that need a session or are not for models",
      },
      config: {
        type: "string",
        placeholder: "FILE",
        description: "Use this config file instead of the project's",
      },
    },
    load: () => import("./commands/start.ts"),
  },
  doctor: {
    summary: "Check Node, config, packs and servers, and say what stands in the way of a session",
    usage: "",
    positionals: [0, 0],
    options: sessionOptions,
    load: () => import("./commands/doctor.ts"),
  },
  ...authorCommands,
  ...installCommands,
  ...remoteCommands,
};
