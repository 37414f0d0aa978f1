import { listClients } from "../../install.ts";
import type { CommandAnswer, CommandInput } from "../command.ts";
import { formatTable } from "../format-table.ts";

export async function run({ cwd }: CommandInput): Promise<CommandAnswer> {
  const listing = await listClients({ cwd });
  const rows = listing.clients.map(({ id, name, present, projectFile, userFile }) => [
    id,
    present ? "yes" : "-",
    name,
    projectFile === null ? "user" : userFile === null ? "project" : "user, project",
    userFile ?? projectFile ?? "",
  ]);
  return {
    json: listing,
    formatText: (style) => formatTable(["CLIENT", "HERE", "NAME", "SCOPES", "FILE"], rows, style),
    problems: [],
  };
}
