import { DataSyntaxError } from "../data/decode.ts";
import { describeType, isRecord, parseJson } from "../data/parse-json.ts";
import { type DiscoveryPort, type ManifestRead, maximumManifestBytes } from "../files/discovery-port.ts";
import type { Manifest, Origin } from "./types.ts";

/** An unusable package.json, before its fault is located and described. */
export interface ManifestFault {
  location: string;
  fault: { tooLarge: number } | { reason: string } | DataSyntaxError;
}

/** Where a package may be. */
export interface PackageFolder {
  /** The name it is installed under; `undefined` for a package of the project or its workspace. */
  name: string | undefined;
  origin: Origin;
  /** Absolute paths; the first with a package.json counts. Without a name, the only one is a real path. */
  paths: readonly string[];
}

/** A package that may be a pack, or whose package.json is broken. */
export interface ReadPackage extends Pick<PackageFolder, "name" | "origin"> {
  /** Absolute path, symbolic links followed. */
  location: string;
  read: Manifest | ManifestFault;
}

/**
 * The hot loop: reads the package.json of each folder, and parses the relevant ones. A package is returned once under each
 * of its names; one of the project or its workspace has no other name.
 */
export function readManifests(port: DiscoveryPort, folders: readonly PackageFolder[]): ReadPackage[] {
  const packages: ReadPackage[] = [];
  const sources = new Set<string>();
  const seen = new Set<string>();
  for (const { name, origin, paths } of folders) {
    for (const path of paths) {
      if (name !== undefined && port.skimManifest(path) !== undefined) break;
      const read = port.readManifest(path);
      if (read.state === "absent") continue;
      if (name !== undefined && read.state === "read" && isIrrelevant(read.text)) break;
      // Undefined if the folder is a link that leads to itself.
      const location = name === undefined ? path : port.realPath(path);
      if (location === undefined) continue;
      const key = `${name} ${location}`;
      if (sources.has(location) || seen.has(key)) break;
      if (name === undefined) sources.add(location);
      seen.add(key);
      packages.push({ name, origin, location, read: parseManifest(location, read) });
      break;
    }
  }
  return packages;
}

/** Whether a text that was not skimmed has the ends of an object and does not mention the field. */
function isIrrelevant(text: string): boolean {
  const trimmed = text.includes('"trailblaze"') ? "" : text.trim();
  return trimmed.length > 1 && trimmed.startsWith("{") && trimmed.endsWith("}");
}

/** Reads one package.json: a manifest, a fault, or `undefined` if there is none. */
export function readManifest(port: DiscoveryPort, location: string): Manifest | ManifestFault | undefined {
  const read = port.readManifest(location);
  return read.state === "absent" ? undefined : parseManifest(location, read);
}

/** Reads the package.json in a folder, if there is a folder and its package.json can be used. */
export function readUsableManifest(port: DiscoveryPort, location: string | undefined): Manifest | undefined {
  const read = location === undefined ? undefined : readManifest(port, location);
  return isFault(read) ? undefined : read;
}

export function isFault(result: Manifest | ManifestFault | undefined): result is ManifestFault {
  return result !== undefined && "fault" in result;
}

function parseManifest(
  location: string,
  read: Exclude<ManifestRead, { state: "absent" }>,
): Manifest | ManifestFault {
  if (read.state === "tooLarge") return { location, fault: { tooLarge: read.bytes } };
  if (read.state === "unusable") return { location, fault: { reason: read.reason } };
  const bytes = Buffer.byteLength(read.text);
  if (bytes > maximumManifestBytes) return { location, fault: { tooLarge: bytes } };
  if (!read.isUtf8)
    return { location, fault: new DataSyntaxError("it is not UTF-8", undefined, undefined, "encoding") };
  try {
    const { text, value } = parseJson(read.text);
    if (isRecord(value)) return { text, value };
    return { location, fault: { reason: `expected an object, found ${describeType(value)}` } };
  } catch (error) {
    if (error instanceof DataSyntaxError) return { location, fault: error };
    throw error;
  }
}
