import { join, sep } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import { type CommandClaim, findReservedCommands } from "../qualified-names/reserved-commands.ts";

/** Limit on the entries of a folder of commands that are read. */
const maximumEntries = 10_000;

/** Paths of all files in the folder that `directories.bin` names, recursively, without following links. */
function listCommandFiles(
  port: DiscoveryPort,
  location: string,
  { directories }: Readonly<Record<string, unknown>>,
): string[] {
  const folder = isRecord(directories) ? directories.bin : undefined;
  if (typeof folder !== "string" || folder.includes("\0")) return [];
  const start = join(location, folder);
  if (start !== location && !start.startsWith(`${location}${sep}`)) return [];
  const files: string[] = [];
  const folders = [start];
  for (let current = folders.pop(); current !== undefined; current = folders.pop()) {
    for (const entry of port.listDirectory(current) ?? []) {
      if (files.length + folders.length >= maximumEntries) return files;
      const path = join(current, entry.name);
      if (!entry.isDirectory()) files.push(path);
      else if (entry.name !== "node_modules") folders.push(path);
    }
  }
  return files;
}

/** The reserved commands that an installed or unpacked package provides without being one of their owners. */
export function findPackageClaims(
  port: DiscoveryPort,
  location: string,
  manifest: Readonly<Record<string, unknown>>,
  owner: string | undefined,
): CommandClaim[] {
  return findReservedCommands(manifest, owner, listCommandFiles(port, location, manifest));
}
