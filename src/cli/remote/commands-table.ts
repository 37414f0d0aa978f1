import type { CommandDescription, OptionDescription } from "../command.ts";

/** The options of everything that looks into registries: `search` and `list --remote`. */
export const remoteOptions: Readonly<Record<string, OptionDescription>> = {
  refresh: { type: "boolean", description: "Ask the registry for everything anew" },
  offline: { type: "boolean", description: "Ask nobody: answer from the cache" },
};

const yes: OptionDescription = {
  type: "boolean",
  short: "y",
  description: "Do not ask",
};

const allowSimilar: OptionDescription = {
  type: "boolean",
  description: "Add packs even if their names are almost those of other packs",
};

/** The commands about packs in the npm registry. */
export const remoteCommands: Readonly<Record<string, CommandDescription>> = {
  search: {
    summary: "Search the npm registry for packs",
    usage: "[text...]",
    positionals: [0, Number.POSITIVE_INFINITY],
    options: remoteOptions,
    load: () => import("../commands/search.ts"),
  },
  add: {
    summary: "Install packs with the project's package manager, after showing what they bring",
    usage: "<pack...>",
    positionals: [1, Number.POSITIVE_INFINITY],
    options: { yes, "allow-similar": allowSimilar },
    load: () => import("../commands/add.ts"),
  },
  remove: {
    summary: "Remove packs with the project's package manager",
    usage: "<pack...>",
    positionals: [1, Number.POSITIVE_INFINITY],
    options: { yes },
    load: () => import("../commands/remove.ts"),
  },
};
