import { planUninstall } from "../../install.ts";
import { defineCommand } from "../command.ts";
import { flag } from "../options.ts";
import { placeOptions, runInstallCommand } from "./install.ts";

const options = {
  ...placeOptions,
  all: { ...flag("Uninstall from every detected client"), excludes: ["file"] },
  force: flag("Remove an entry that connects to a URL of another machine, too"),
};

export const command = defineCommand({
  summary: "Remove the project's session, or a single server, from an MCP client's config",
  usage: "<client> [server|pack] | [server|pack] --all",
  options,
  run: (input) => runInstallCommand({ done: "Uninstalled", preposition: "from", plan: planUninstall }, input),
});
