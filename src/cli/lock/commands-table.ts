import type { CommandDescription, OptionDescription } from "../command.ts";
import { sessionOptions } from "../session/session-options-table.ts";

const config = sessionOptions.config as OptionDescription;

/** The commands that compare the installation with trailblaze.lock, and record what is approved in it. */
export const lockCommands: Readonly<Record<string, CommandDescription>> = {
  diff: {
    summary: "Show how packs and servers differ from what trailblaze.lock approves",
    usage: "[pack|server...]",
    positionals: [0, Number.POSITIVE_INFINITY],
    options: {
      static: { type: "boolean", description: "Start no servers; their tools are not compared" },
      config,
    },
    load: () => import("../commands/diff.ts"),
  },
  approve: {
    summary: "Record in trailblaze.lock what sessions may use",
    usage: "[pack|server|publisher/pack/item...]",
    positionals: [0, Number.POSITIVE_INFINITY],
    options: {
      yes: { type: "boolean", short: "y", description: "Approve what is named without asking" },
      all: { type: "boolean", description: "Approve everything that is not denied" },
      "dry-run": { type: "boolean", description: "Show the changes without making them" },
      static: { type: "boolean", description: "Start no servers; their tools stay unapproved" },
      deny: { type: "boolean", description: "Deny what is named instead, until it is approved by name" },
      config,
    },
    load: () => import("../commands/approve.ts"),
  },
};
