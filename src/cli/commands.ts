import type { CommandDescription, OptionDescription } from "./command.ts";

/** The options that every command has. */
export const commonOptions: Readonly<Record<string, OptionDescription>> = {
  cwd: { type: "string", placeholder: "DIR", description: "Work in this folder instead of the current one" },
  json: { type: "boolean", description: "Print one JSON document on stdout" },
  help: { type: "boolean", short: "h", description: "Show this help" },
};

const kind: OptionDescription = {
  type: "string",
  placeholder: "KIND",
  description: "server, tool, toolset or prompt, where a name belongs to several",
};

/** Every command. The help, the parser and the docs read this table. */
export const commands: Readonly<Record<string, CommandDescription>> = {
  list: {
    summary: "List the installed packs, or what they bring of one kind",
    usage: "[servers|tools|toolsets|prompts]",
    positionals: [0, 1],
    options: {
      global: { type: "boolean", short: "g", description: "Also list packs that are installed globally" },
    },
    load: () => import("./commands/list.ts"),
  },
};
