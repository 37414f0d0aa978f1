import { listClients } from "../../install.ts";
import { defineCommand } from "../command.ts";
import { formatTable } from "../layout.ts";

export const command = defineCommand({
  summary: "List supported MCP clients",
  usage: "",
  options: {},
  async run({ cwd }) {
    const listing = await listClients({ cwd });
    const rows = listing.clients.map(({ id, name, present, projectFile, userFile }) => [
      id,
      present ? "yes" : "no",
      name,
      projectFile === null ? "user" : userFile === null ? "project" : "user, project",
      userFile ?? projectFile ?? "",
    ]);
    return {
      json: listing,
      formatText: (style) => formatTable(["CLIENT", "DETECTED", "NAME", "SCOPES", "FILE"], rows, style),
    };
  },
});
