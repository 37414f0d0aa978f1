import { type InstallOptions, planInstall } from "../../install.ts";
import { printable } from "../../problems/index.ts";
import type { CommandAnswer, CommandInput } from "../command.ts";
import { runInstallCommand } from "../install/install-command.ts";
import { output } from "../output.ts";

export async function run(input: CommandInput): Promise<CommandAnswer> {
  const { options, cwd } = input;
  const plan = async (client: string, server: string | null, planOptions: InstallOptions) => {
    const tryToPlan = () => planInstall(client, server, planOptions);
    // A dry run installs no packs.
    if (options["dry-run"] === true) return tryToPlan();
    const { withMissingPacks } = await import("../../session/install-missing.ts");
    const onInstall = (command: string) => output.note(`Running ${printable(command)}`);
    return withMissingPacks({ cwd, install: options.install === true, onInstall }, tryToPlan);
  };
  return runInstallCommand(
    { done: "Installed", planned: "Would install", unchanged: "Nothing to do for", preposition: "in", plan },
    input,
  );
}
