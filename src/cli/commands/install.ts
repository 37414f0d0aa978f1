import { planInstall } from "../../api/install.ts";
import type { CommandAnswer, CommandInput } from "../command.ts";
import { runInstallCommand } from "../install/install-command.ts";

export async function run(input: CommandInput): Promise<CommandAnswer> {
  return runInstallCommand(
    { done: "Installed", planned: "Would install", unchanged: "Nothing to do for", plan: planInstall },
    input,
  );
}
