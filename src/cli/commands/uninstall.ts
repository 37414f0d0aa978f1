import { planUninstall } from "../../install.ts";
import { defineCommand } from "../command.ts";
import { flag } from "../options.ts";
import { placeOptions, runInstallCommand } from "./install.ts";

const options = {
  ...placeOptions,
  skills: {
    ...flag("Remove the copies of skills, or of the named ones (from the project by default)"),
    excludes: ["all", "force", "file", "name"],
  },
  all: { ...flag("Uninstall from every detected client"), excludes: ["file"] },
  force: flag("Remove an entry that connects to a URL of another machine, too"),
};

export const command = defineCommand({
  summary: "Remove the project's session, or a single server, from an MCP client's config",
  usage: "<client> [server|pack] | [server|pack] --all | <client> --skills [skill...]",
  options,
  run: (input) => runInstallCommand({ done: "Uninstalled", preposition: "from", plan: planUninstall }, input),
});
