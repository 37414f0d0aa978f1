import type { CommandDescription } from "../command.ts";
import { sessionOptions } from "../session/session-options-table.ts";

/** The commands for those who write packs. */
export const authorCommands: Readonly<Record<string, CommandDescription>> = {
  init: {
    summary: "Make a new pack in an empty folder",
    usage: "[folder]",
    positionals: [0, 1],
    options: {
      name: { type: "string", placeholder: "NAME", description: "The npm name; by default the folder's" },
      template: {
        type: "string",
        placeholder: "TEMPLATE",
        description: "data (default), typescript, server, composed or bundle",
      },
      yes: { type: "boolean", short: "y", description: "Do not ask: take the defaults" },
    },
    load: () => import("../commands/init.ts"),
  },
  types: {
    summary: "Write TypeScript declarations of a session's tools",
    usage: "",
    positionals: [0, 0],
    options: {
      out: { type: "string", placeholder: "FILE", description: "Write them to this file, if it differs" },
      check: { type: "boolean", description: "Write nothing; fail where the file of --out differs" },
      ...sessionOptions,
    },
    load: () => import("../commands/types.ts"),
  },
  dev: {
    summary: "Watch a pack: validate it on every change, and keep a session open over it",
    usage: "[folder]",
    positionals: [0, 1],
    options: {
      once: { type: "boolean", description: "Validate and open the session once, then end" },
      ...sessionOptions,
    },
    load: () => import("../commands/dev.ts"),
  },
};
