import type { CommandDescription } from "../command.ts";
import { builtInsOption, confinementOptions } from "../inspection-options.ts";
import { sessionOptions } from "../session/session-options-table.ts";

/** The commands for authors of packs. */
export const authorCommands: Readonly<Record<string, CommandDescription>> = {
  init: {
    summary: "Create a pack in an empty folder",
    usage: "[folder]",
    positionals: [0, 1],
    options: {
      name: {
        type: "string",
        placeholder: "NAME",
        description: "npm name of the pack (default: derived from the folder)",
      },
      template: {
        type: "string",
        placeholder: "TEMPLATE",
        description: "Template: data (default), typescript, server, composed or bundle",
      },
      yes: { type: "boolean", short: "y", description: "Use the defaults instead of asking" },
    },
    load: () => import("../commands/init.ts"),
  },
  types: {
    summary: "Generate TypeScript declarations for a session's tools",
    usage: "",
    positionals: [0, 0],
    options: {
      out: { type: "string", placeholder: "FILE", description: "Write to this file instead of stdout" },
      check: {
        type: "boolean",
        description: "Fail if the file given with --out is out of date; write nothing",
      },
      ...sessionOptions,
    },
    load: () => import("../commands/types.ts"),
  },
  docs: {
    summary: "Document a pack as Markdown, without running it",
    usage: "[pack]",
    positionals: [0, 1],
    options: {
      out: { type: "string", placeholder: "FILE", description: "Write to this file instead of stdout" },
      write: {
        type: "string",
        placeholder: "FILE",
        description: "Write between <!-- trailblaze:docs --> and <!-- /trailblaze:docs --> of this file",
      },
      check: {
        type: "boolean",
        description: "Fail if the file given with --out or --write is out of date; write nothing",
      },
      level: { type: "string", placeholder: "NUMBER", description: "Level of the top headings (default: 2)" },
      "built-ins": builtInsOption,
      ...confinementOptions,
    },
    load: () => import("../commands/docs.ts"),
  },
  export: {
    summary: "Write a server of the pack as a command, a plugin or an entry of a registry",
    usage: "<bin|agent-plugin|claude-plugin|server.json> [server]",
    positionals: [1, 2],
    options: {
      out: { type: "string", placeholder: "DIR", description: "Write to this folder instead of the package" },
      name: { type: "string", placeholder: "NAME", description: "Name of the plugin" },
      description: {
        type: "string",
        placeholder: "TEXT",
        description: "Description instead of package.json's",
      },
      "dry-run": { type: "boolean", description: "Print what would change; write nothing" },
      check: { type: "boolean", description: "Fail if a file is missing or differs; write nothing" },
      force: { type: "boolean", description: "Replace files with other contents" },
      "built-ins": builtInsOption,
      ...confinementOptions,
    },
    load: () => import("../commands/export.ts"),
  },
  dev: {
    summary: "Watch a pack: validate it and reopen a session on every change",
    usage: "[folder]",
    positionals: [0, 1],
    options: {
      once: { type: "boolean", description: "Validate and open a session once, then exit" },
      ...sessionOptions,
    },
    load: () => import("../commands/dev.ts"),
  },
};
