import { type InstallOptions, planInstall } from "../../install.ts";
import { printable } from "../../problems/index.ts";
import type { Command, CommandAnswer, CommandInput } from "../command.ts";
import { placeOptions, runInstallCommand } from "../install/install-command.ts";
import { flag, installOption, text, texts } from "../options.ts";
import { output } from "../output.ts";

export const command: Command = {
  summary: "Add the project's session, or a single server, to an MCP client's config",
  usage: "<client> [server|pack] | [server|pack] --all",
  options: {
    ...placeOptions,
    all: flag("Install into every detected client"),
    env: texts(
      "NAME[=VALUE]",
      "Set an environment variable; without =VALUE, its value stays out of the file (repeatable)",
    ),
    url: text("URL", "Connect to a server that already runs at this URL"),
    header: texts(
      "NAME=VALUE",
      "Send this HTTP header to the URL, such as Authorization; its value is not printed (repeatable)",
    ),
    force: flag("Replace an entry that Trailblaze did not write; a backup is kept"),
    ...installOption,
  },
  run,
};

async function run(input: CommandInput): Promise<CommandAnswer> {
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
