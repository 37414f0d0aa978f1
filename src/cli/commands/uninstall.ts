import { planUninstall } from "../../install.ts";
import type { Command, CommandAnswer, CommandInput } from "../command.ts";
import { placeOptions, runInstallCommand } from "../install/install-command.ts";
import { flag } from "../options.ts";

export const command: Command = {
  summary: "Remove the project's session, or a single server, from an MCP client's config",
  usage: "<client> [server|pack] | [server|pack] --all",
  options: {
    ...placeOptions,
    all: flag("Uninstall from every detected client"),
    force: flag("Remove an entry that connects to a URL of another machine, too"),
  },
  run,
};

async function run(input: CommandInput): Promise<CommandAnswer> {
  return runInstallCommand(
    {
      done: "Uninstalled",
      planned: "Would uninstall",
      unchanged: "Nothing to do for",
      preposition: "from",
      plan: planUninstall,
    },
    input,
  );
}
