import { DataSyntaxError, describeType, isRecord, parseJson } from "../data/parse-json.ts";
import { type DiscoveryPort, type ManifestRead, maximumManifestBytes } from "../files/discovery-port.ts";
import { mayHaveSkills } from "../skills/skill-folders.ts";
import type { Manifest, Origin } from "./types.ts";

export type ManifestFault = { tooLarge: number } | DataSyntaxError;

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
 * The hot loop: reads the package.json of each folder, and parses the relevant ones; the texts of others go to `others`, by path. A
 * package is returned under each of its names, but none that is `known`, and one of the project or its workspace has no name.
 */
export function readManifests(
  port: DiscoveryPort,
  folders: readonly PackageFolder[],
  known: readonly ReadPackage[],
  others?: Map<string, string>,
): ReadPackage[] {
  const packages: ReadPackage[] = [];
  const taken = new Set(known.map(({ location }) => location));
  for (const { name, origin, paths } of folders) {
    for (const path of paths) {
      if (taken.has(path)) break;
      const read = port.readManifest(path);
      if (read === undefined) continue;
      const isSource = name === undefined;
      if (!isSource && "text" in read && isIrrelevant(read.text)) {
        if (read.text.length <= maximumManifestBytes) others?.set(path, read.text);
        if (origin !== "direct" || !mayHaveSkills(port, path)) break;
      }
      // Undefined if the folder is a link that leads to itself.
      const location = isSource ? path : port.realPath(path);
      if (location === undefined) continue;
      if (taken.has(location)) break;
      if (isSource) taken.add(location);
      packages.push({ name, origin, location, read: parseManifest(read) });
      break;
    }
  }
  return packages;
}

/** Whether a text has the ends of an object and does not mention the field. */
function isIrrelevant(text: string): boolean {
  if (text.includes('"trailblaze"')) return false;
  if (text.startsWith("{") && text.endsWith("}\n")) return true;
  const trimmed = text.trim();
  return trimmed.length > 1 && trimmed.startsWith("{") && trimmed.endsWith("}");
}

export function readManifest(port: DiscoveryPort, location: string): Manifest | ManifestFault | undefined {
  const read = port.readManifest(location);
  return read && parseManifest(read);
}

export function readUsableManifest(port: DiscoveryPort, location: string | undefined): Manifest | undefined {
  const read = location === undefined ? undefined : readManifest(port, location);
  return isFault(read) ? undefined : read;
}

export function isFault(result: Manifest | ManifestFault | undefined): result is ManifestFault {
  return result !== undefined && !("value" in result);
}

function parseManifest(read: ManifestRead): Manifest | ManifestFault {
  if ("tooLarge" in read) return read;
  try {
    if ("reason" in read) throw new DataSyntaxError(read.reason);
    const bytes = Buffer.byteLength(read.text);
    if (bytes > maximumManifestBytes) return { tooLarge: bytes };
    if (!read.isUtf8) throw new DataSyntaxError("it is not UTF-8");
    const { text, value } = parseJson(read.text);
    if (isRecord(value)) return { text, value };
    throw new DataSyntaxError(`expected an object, found ${describeType(value)}`);
  } catch (error) {
    if (error instanceof DataSyntaxError) return error;
    throw error;
  }
}
