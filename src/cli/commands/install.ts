import { type InstallOptions, planInstall } from "../../install.ts";
import { printable } from "../../problems/index.ts";
import type { CommandAnswer, CommandInput } from "../command.ts";
import { runInstallCommand } from "../install/install-command.ts";
import { output } from "../output.ts";

export async function run(input: CommandInput): Promise<CommandAnswer> {
  const { options, cwd } = input;
  const withPacks = async <Value>(find: () => Promise<Value>): Promise<Value> => {
    // A dry run installs no packs.
    if (options["dry-run"] === true) return find();
    const { withMissingPacks } = await import("../../session/install-missing.ts");
    const onInstall = (command: string) => output.note(`Running ${printable(command)}`);
    return withMissingPacks({ cwd, install: options.install === true, onInstall }, find);
  };
  return runInstallCommand(
    {
      done: "Installed",
      planned: "Would install",
      unchanged: "Nothing to do for",
      preposition: "in",
      plan: (client: string, server: string | null, planOptions: InstallOptions) =>
        withPacks(() => planInstall(client, server, planOptions)),
      async check(server) {
        const { resolveServer } = await import("../../install/resolve-server.ts");
        await withPacks(() => resolveServer(server, { cwd }));
      },
    },
    input,
  );
}
