import type { CommandDescription, OptionDescription } from "../command.ts";
import { sessionOptions } from "../session/session-options-table.ts";

const staticOption = (description: string): OptionDescription => ({ type: "boolean", description });

/** The commands that compare the installation with trailblaze.lock. */
export const lockCommands: Readonly<Record<string, CommandDescription>> = {
  diff: {
    summary: "Show how packs and servers differ from what trailblaze.lock approves",
    usage: "[pack|server...]",
    positionals: [0, Number.POSITIVE_INFINITY],
    options: {
      static: staticOption("Start no servers, so that their tools are not compared"),
      config: sessionOptions.config as OptionDescription,
    },
    load: () => import("../commands/diff.ts"),
  },
};
