import { planUninstall } from "../../install.ts";
import type { CommandAnswer, CommandInput } from "../command.ts";
import { runInstallCommand } from "../install/install-command.ts";

export async function run(input: CommandInput): Promise<CommandAnswer> {
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
