import { planUninstall } from "../../install.ts";
import type { Command } from "../command.ts";
import { flag } from "../options.ts";
import { placeOptions, runInstallCommand } from "./install.ts";

export const command: Command = {
  summary: "Remove the project's session, or a single server, from an MCP client's config",
  usage: "<client> [server|pack] | [server|pack] --all",
  options: {
    ...placeOptions,
    all: flag("Uninstall from every detected client"),
    force: flag("Remove an entry that connects to a URL of another machine, too"),
  },
  run: (input) => runInstallCommand({ done: "Uninstalled", preposition: "from", plan: planUninstall }, input),
};
