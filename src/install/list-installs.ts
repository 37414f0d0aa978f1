import { dirname } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import { findProject } from "../discovery/project.ts";
import type { ConfigFiles } from "../files/config-files.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { TrailblazeError } from "../problems/index.ts";
import { findClient } from "./clients/index.ts";
import { ConfigDocument, loadEditor } from "./editing/config-document.ts";
import { findStartFolder } from "./entry/launch.ts";
import { openFiles, readLedger } from "./install-files.ts";
import { hashEntry, type LedgerEntry } from "./ledger.ts";

/** An installed entry, from the ledger. */
export interface ListedInstall extends Pick<LedgerEntry, "client" | "scope" | "server" | "file" | "key"> {
  /** `missing`: the file or the entry does not exist; `edited`: it has changed; `unreadable`: the file is invalid. */
  state: "installed" | "edited" | "missing" | "unreadable";
  /** The folder in which its server starts; `null` if it is unknown or the entry is missing. */
  project: string | null;
}

/** The project of a project's client config. Clients start its servers in this folder. */
function findProjectOf(file: string): string {
  const folder = dirname(file);
  try {
    return findProject(createNodeDiscoveryPort(), folder).directory;
  } catch (error) {
    if (error instanceof TrailblazeError) return folder;
    throw error;
  }
}

async function describeInstall(files: ConfigFiles, record: LedgerEntry): Promise<ListedInstall> {
  const { client: id, scope, server, file, key, container, hash } = record;
  const listed = { client: id, scope, server, file, key, project: null };
  try {
    const client = findClient(id);
    const text = files.read(file);
    if (text === undefined) return { ...listed, state: "missing" };
    const place = { container, key, isList: client.isList === true };
    const entry = new ConfigDocument(await loadEditor(client.format), text).get(place);
    if (!isRecord(entry)) return { ...listed, state: entry === undefined ? "missing" : "edited" };
    const { name: _, ...rest } = entry;
    const state = hashEntry(place.isList ? rest : entry) === hash ? "installed" : "edited";
    const isOfProject = scope === "project" && state === "installed";
    return {
      ...listed,
      state,
      project: findStartFolder(entry) ?? (isOfProject ? findProjectOf(file) : null),
    };
  } catch {
    return { ...listed, state: "unreadable" };
  }
}

/** The entries in clients' configs and their state, for `doctor`. */
export async function listInstalls(): Promise<ListedInstall[]> {
  const files = openFiles();
  return Promise.all(readLedger(files).entries.map((entry) => describeInstall(files, entry)));
}
