import { dirname } from "node:path";
import { findProject } from "../discovery/project.ts";
import { findRealFile, readConfigFile } from "../files/edit.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { TrailblazeError } from "../problems/index.ts";
import type { Scope } from "./clients/client.ts";
import { clients } from "./clients/index.ts";
import { findCandidates, readHost } from "./clients/locations.ts";
import { findOwnEntries } from "./decide-edit.ts";
import { loadEditor } from "./editing/config-document.ts";

/** An entry of Trailblaze in a client's config. */
export interface ListedInstall {
  /** The client's id. */
  client: string;
  scope: Scope;
  /** `null` for a project's session. */
  server: string | null;
  file: string;
  key: string;
  /** The folder in which its server starts. */
  project: string;
}

/** The entries of Trailblaze in the clients' configs of the user and of a project, for `doctor`. Skips unreadable files. */
export async function listInstalls(project: string): Promise<ListedInstall[]> {
  const found = new Map<string, ListedInstall>();
  const host = readHost();
  for (const client of clients) {
    const editor = await loadEditor(client.format);
    for (const scope of ["user", "project"] as const) {
      for (const file of findCandidates(client, scope, host, project)) {
        try {
          const realFile = findRealFile(file);
          const text = readConfigFile(realFile);
          for (const { key, server, folder } of findOwnEntries(client, editor, file, text)) {
            const id = JSON.stringify([realFile, client.container, key]);
            const listed = { client: client.id, scope, server, file, key };
            // Clients start the servers of a project's config in the folder of the project.
            if (!found.has(id)) found.set(id, { ...listed, project: folder ?? findProjectOf(file) });
          }
        } catch (error) {
          if (!(error instanceof TrailblazeError)) throw error;
        }
      }
    }
  }
  return [...found.values()];
}

function findProjectOf(file: string): string {
  const folder = dirname(file);
  try {
    return findProject(createNodeDiscoveryPort(), folder).directory;
  } catch (error) {
    if (error instanceof TrailblazeError) return folder;
    throw error;
  }
}
