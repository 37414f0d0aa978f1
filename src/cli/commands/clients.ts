import { listClients } from "../../install.ts";
import type { Command, CommandAnswer, CommandInput } from "../command.ts";
import { abbreviateHome, formatTable } from "../layout.ts";

export const command: Command = {
  summary: "List supported MCP clients",
  usage: "",
  options: {},
  run,
};

async function run({ cwd }: CommandInput): Promise<CommandAnswer> {
  const listing = await listClients({ cwd });
  const rows = listing.clients.map(({ id, name, present, projectFile, userFile }) => [
    id,
    present ? "yes" : "no",
    name,
    projectFile === null ? "user" : userFile === null ? "project" : "user, project",
    abbreviateHome(userFile ?? projectFile ?? ""),
  ]);
  return {
    json: listing,
    formatText: (style) => formatTable(["CLIENT", "DETECTED", "NAME", "SCOPES", "FILE"], rows, style),
    problems: [],
  };
}
