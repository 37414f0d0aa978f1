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
    summary: "Show what packs provide, then install them",
    usage: "<pack...>",
    positionals: [1, Number.POSITIVE_INFINITY],
    options: { yes, "allow-similar": allowSimilar },
    load: () => import("../commands/add.ts"),
  },
  remove: {
    summary: "Remove packs with the project's package manager",
    usage: "<pack...>",
    positionals: [1, Number.POSITIVE_INFINITY],
    options: { yes: { ...yes, description: "Accepted for scripts; remove never asks" } },
    load: () => import("../commands/remove.ts"),
  },
};
