import { authorCommands } from "./author/commands-table.ts";
import type { CommandDescription, OptionDescription } from "./command.ts";
import { builtInsOption, confinementOptions } from "./inspection-options.ts";
import { installCommands } from "./install/commands-table.ts";
import { lockCommands } from "./lock/commands-table.ts";
import { remoteCommands, remoteOptions } from "./remote/commands-table.ts";
import { installOption, sessionOptions, startOptions } from "./session/session-options-table.ts";

/** The options of every command. */
export const commonOptions: Readonly<Record<string, OptionDescription>> = {
  cwd: { type: "string", placeholder: "DIR", description: "Run in this folder instead of the current one" },
  json: { type: "boolean", description: "Print one JSON document on stdout" },
  strict: { type: "boolean", description: "Treat warnings as errors" },
  help: { type: "boolean", short: "h", description: "Show this help" },
};

const kind: OptionDescription = {
  type: "string",
  placeholder: "KIND",
  description: "Kind of the item, if several share the name: server, tool, toolset, prompt or resource",
};

const servedOption: Readonly<Record<string, OptionDescription>> = {
  served: {
    type: "boolean",
    description: "Name tools as `start` does, with a prefix for names that several tools have",
  },
};

/** Every command. The parser and the help read this table. */
export const commands: Readonly<Record<string, CommandDescription>> = {
  list: {
    summary: "List installed packs, or their items of one kind",
    usage: "[servers|tools|toolsets|prompts|resources]",
    positionals: [0, 1],
    options: {
      global: { type: "boolean", short: "g", description: "Also list globally installed packs" },
      remote: { type: "boolean", description: "List packs in the npm registry instead" },
      ...remoteOptions,
      "built-in": { type: "boolean", description: "Also list tools and servers from the project's config" },
    },
    load: () => import("./commands/list.ts"),
  },
  inspect: {
    summary: "Show a pack or an item and its definition, without running it",
    usage: "<pack|publisher/pack/item|label/tool>",
    positionals: [1, 1],
    options: {
      kind,
      start: { type: "boolean", description: "Start the server LABEL of the config to show its tool" },
      "built-ins": builtInsOption,
      ...confinementOptions,
    },
    load: () => import("./commands/inspect.ts"),
  },
  validate: {
    summary: "Check packs for problems",
    usage: "[folder|pack...]",
    positionals: [0, Number.POSITIVE_INFINITY],
    options: {
      "as-installed": {
        type: "boolean",
        description: "Also pack and install the pack in a temporary project, and run its code there",
      },
      with: {
        type: "string",
        multiple: true,
        placeholder: "TARBALL",
        description: "With --as-installed: also install this tarball (repeatable)",
      },
      offline: { type: "boolean", description: "With --as-installed: install only from npm's cache" },
      yes: { type: "boolean", short: "y", description: "Skip the confirmation prompt of --as-installed" },
      workspaces: { type: "boolean", description: "Check every pack of the workspace" },
      format: {
        type: "string",
        placeholder: "FORMAT",
        description: "Output format: pretty (default), json or github",
      },
      "built-ins": builtInsOption,
      ...confinementOptions,
    },
    load: () => import("./commands/validate.ts"),
  },
  explain: {
    summary: "Explain a problem code and how to fix the problem",
    usage: "<code>",
    positionals: [1, 1],
    options: {},
    load: () => import("./commands/explain.ts"),
  },
  catalog: {
    summary: "Write a static site of the installed packs, without running them",
    usage: "",
    positionals: [0, 0],
    options: {
      out: { type: "string", placeholder: "DIR", description: "Write to this folder (required)" },
      title: { type: "string", placeholder: "TEXT", description: "Title of the site" },
      open: { type: "boolean", description: "Open the site in the browser" },
      "built-ins": builtInsOption,
      ...confinementOptions,
    },
    load: () => import("./commands/catalog.ts"),
  },
  tools: {
    summary: "List the tools of a session, and why others are excluded",
    usage: "",
    positionals: [0, 0],
    options: { ...startOptions, ...servedOption, ...installOption, ...sessionOptions },
    load: () => import("./commands/tools.ts"),
  },
  prompts: {
    summary: "List the prompts of a session, or print the messages of one",
    usage: "[prompt] [key=value...]",
    positionals: [0, Number.POSITIVE_INFINITY],
    options: { ...servedOption, ...installOption, ...sessionOptions },
    load: () => import("./commands/prompts.ts"),
  },
  call: {
    summary: "Call a tool by its advertised or qualified name, or by label/tool",
    usage: "<tool> [key=value...]",
    positionals: [1, Number.POSITIVE_INFINITY],
    options: {
      args: {
        type: "string",
        placeholder: "JSON",
        description: "Arguments as a JSON object, or - to read them from stdin",
      },
      timeout: { type: "string", placeholder: "MS", description: "Timeout of the call in milliseconds" },
      record: {
        type: "string",
        placeholder: "FILE",
        description: "Append the call to this trail if it succeeds",
      },
      ...servedOption,
      ...installOption,
      ...sessionOptions,
    },
    load: () => import("./commands/call.ts"),
  },
  read: {
    summary: "Read a resource by its URI, and print its text",
    usage: "<uri>",
    positionals: [1, 1],
    options: {
      out: {
        type: "string",
        placeholder: "FILE",
        description: "Write the content to this file, text or bytes",
      },
      ...servedOption,
      ...installOption,
      ...sessionOptions,
    },
    load: () => import("./commands/read.ts"),
  },
  run: {
    summary: "Replay a trail, stopping at the first failure",
    usage: "<trail>",
    positionals: [1, 1],
    options: {
      "keep-going": { type: "boolean", description: "Continue after a failed step" },
      ...servedOption,
      ...installOption,
      ...sessionOptions,
    },
    load: () => import("./commands/run.ts"),
  },
  start: {
    summary: "Serve the session as one MCP server, or start a single server, over stdio or HTTP",
    usage: "[server|pack]",
    positionals: [0, 1],
    options: {
      http: {
        type: "string",
        placeholder: "[HOST:]PORT",
        description: "Serve streamable HTTP at /mcp on this address (default host: 127.0.0.1)",
      },
      stdio: { type: "boolean", description: "Serve over stdio, regardless of the server's definition" },
      token: {
        type: "string",
        placeholder: "TEXT",
        description: "Require this bearer token (default: TRAILBLAZE_HTTP_TOKEN)",
      },
      "no-auth": { type: "boolean", description: "Allow unauthenticated access on non-loopback hosts" },
      "allowed-host": {
        type: "string",
        multiple: true,
        placeholder: "NAME[:PORT]",
        description: "Also accept requests for this host, such as a proxy's (repeatable)",
      },
      "allowed-origin": {
        type: "string",
        multiple: true,
        placeholder: "URL",
        description: "Let pages of this origin use the server in a browser (repeatable)",
      },
      "session-ttl": {
        type: "string",
        placeholder: "SECONDS",
        description: "End sessions that are idle for this long (default: 1800)",
      },
      "max-sessions": {
        type: "string",
        placeholder: "NUMBER",
        description: "Maximum number of concurrent sessions (default: 1000)",
      },
      stateless: { type: "boolean", description: "Handle each request on its own, without sessions" },
      health: { type: "boolean", description: "Answer probes at /healthz, without a token" },
      drain: {
        type: "string",
        placeholder: "SECONDS",
        description: "How long calls may take to finish when it is told to end (default: 10)",
      },
      protocol: {
        type: "string",
        placeholder: "ERA",
        description: "Versions of MCP to serve: modern (2026-07-28 and later), legacy or both",
      },
      "cache-ttl": {
        type: "string",
        placeholder: "SECONDS",
        description: "How long modern clients may cache lists (default: 300; 0 for the session)",
      },
      ...installOption,
      "all-tools": {
        type: "boolean",
        description: "Also offer a server's tools that need a session or are hidden from models",
      },
      ...startOptions,
      "tool-search": {
        type: "string",
        bare: "30",
        placeholder: "NUMBER",
        description:
          "With more tools than this, list search_tools instead of them (default: 30; session only)",
      },
      "no-watch": { type: "boolean", description: "Ignore changes in the project (session only)" },
      ...sessionOptions,
    },
    load: () => import("./commands/start.ts"),
  },
  doctor: {
    summary: "Diagnose why a session would fail to start",
    usage: "",
    positionals: [0, 0],
    options: sessionOptions,
    load: () => import("./commands/doctor.ts"),
  },
  ...lockCommands,
  ...authorCommands,
  ...installCommands,
  ...remoteCommands,
};
