import { resolve } from "node:path";
import { findProject } from "../discovery/project.ts";
import { fileExists } from "../files/edit.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { clients } from "./clients/index.ts";
import { findCandidates, findSigns, readHost } from "./clients/locations.ts";
import type { ConfigFormatName } from "./editing/config-format.ts";

/** A client as `clients --json` shows it. */
export interface ListedClient {
  id: string;
  name: string;
  aliases: string[];
  format: ConfigFormatName;
  /** Absolute; `null` if the client has none on this system, or its location is unknown. */
  userFile: string | null;
  /** Absolute, for the project of the folder; `null` if the client reads none. */
  projectFile: string | null;
  /** Whether the client seems to be installed. */
  present: boolean;
}

/** All known clients with their files, and whether they are installed. Reads no config. */
export async function listClients({ cwd = process.cwd() }: { cwd?: string } = {}): Promise<{
  clients: ListedClient[];
}> {
  const host = readHost();
  let project = resolve(cwd);
  try {
    project = findProject(createNodeDiscoveryPort(), cwd).directory;
  } catch {
    // Outside a project, clients have no project files.
  }
  const pick = (paths: readonly string[]) => paths.find((path) => fileExists(path)) ?? paths[0] ?? null;
  const listed = clients.map(
    (client): ListedClient => ({
      id: client.id,
      name: client.name,
      aliases: [...client.aliases],
      format: client.format,
      userFile: pick(findCandidates(client, "user", host, "")),
      projectFile: pick(findCandidates(client, "project", host, project)),
      present: findSigns(client, host).some((sign) => fileExists(sign)),
    }),
  );
  return { clients: listed };
}
