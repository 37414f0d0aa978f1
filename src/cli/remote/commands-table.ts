import type { CommandDescription, OptionDescription } from "../command.ts";

/** The options of commands that search registries: `search` and `list --remote`. */
export const remoteOptions: Readonly<Record<string, OptionDescription>> = {
  refresh: { type: "boolean", description: "Ignore the cache; request everything again" },
  offline: { type: "boolean", description: "Use only the cache; make no requests" },
};

const yes: OptionDescription = {
  type: "boolean",
  short: "y",
  description: "Skip the confirmation prompt",
};

const allowSimilar: OptionDescription = {
  type: "boolean",
  description: "Allow names that are very similar to other packs' names",
};

/** The options of `add` for MCP servers that are not packs. */
const serverOptions: Readonly<Record<string, OptionDescription>> = {
  server: { type: "boolean", description: "Add a package with a command as an MCP server" },
  name: {
    type: "string",
    placeholder: "LABEL",
    description: "Label of the server in the config (default: the last segment of the npm name)",
  },
  arg: {
    type: "string",
    multiple: true,
    placeholder: "VALUE",
    description: "Argument of the server, as --arg=VALUE if it starts with a dash (repeatable)",
  },
  env: {
    type: "string",
    multiple: true,
    placeholder: "NAME[=VALUE]",
    description: "Environment variable of the server; without =VALUE, a reference to it (repeatable)",
  },
  bin: { type: "string", placeholder: "NAME", description: "Command of the package, if it has several" },
  "no-config": { type: "boolean", description: "Install a server without an entry in the config" },
  check: { type: "boolean", description: "Start an added server once and list its tools" },
};

/** The commands that search, add and remove packs. */
export const remoteCommands: Readonly<Record<string, CommandDescription>> = {
  search: {
    summary: "Search the npm registry for packs",
    usage: "[text...]",
    positionals: [0, Number.POSITIVE_INFINITY],
    options: remoteOptions,
    load: () => import("../commands/search.ts"),
  },
  add: {
    summary: "Show what packs or MCP servers from npm provide, then install them",
    usage: "<package...>",
    positionals: [1, Number.POSITIVE_INFINITY],
    options: { yes, "allow-similar": allowSimilar, ...serverOptions },
    load: () => import("../commands/add.ts"),
  },
  remove: {
    summary: "Remove packs, or MCP servers and their entries in the config",
    usage: "<pack|package...>",
    positionals: [1, Number.POSITIVE_INFINITY],
    options: { yes: { ...yes, description: "Accepted for scripts; remove never asks" } },
    load: () => import("../commands/remove.ts"),
  },
};
