import type { DiscoveryPort } from "../files/discovery-port.ts";
import { isQualifiedName, parseQualifiedName } from "../qualified-names/qualified-name.ts";
import { describePackages } from "./describe-pack.ts";
import type { FoundPacks } from "./find-packs.ts";
import { readManifests } from "./manifest.ts";
import { packageFolders, packNamesIn } from "./package-folders.ts";
import { compareText, decideEnabled } from "./rank-packs.ts";
import type { DiscoveredPack, Origin } from "./types.ts";

/** Finds packs by name that were not read before, as Node finds them from a folder, and adds them to `found`. */
async function lookUp(
  port: DiscoveryPort,
  found: FoundPacks,
  names: readonly string[],
  { directory, origin }: { directory: string; origin: Origin },
): Promise<void> {
  const known = new Set(found.packs.flatMap(({ pack }) => (pack.origin === "global" ? [] : pack.name)));
  const unknown = names.filter((name) => !known.has(name));
  const packages = readManifests(port, packageFolders(port, directory, unknown, origin), []);
  for (const added of await describePackages(port, packages, found.broken)) {
    added.pack.enabled = decideEnabled(found.policy, added);
    found.packs.push(added);
    found.packs.sort((one, other) => compareText(one.pack.name, other.pack.name));
  }
}

/**
 * Looks for the packs that references name by qualified name and that were not read: from the pack whose definitions
 * contain the references, or from the project. They become `transitive`.
 */
export async function lookUpReferences(
  port: DiscoveryPort,
  found: FoundPacks,
  references: readonly (string | { reference: string })[],
  from: DiscoveredPack | "user",
): Promise<void> {
  const names = references
    .map((one) => (typeof one === "string" ? one : one.reference))
    .filter((one) => isQualifiedName(one))
    .map((name) => parseQualifiedName(name).packageName);
  const { location, name, packageName }: Partial<DiscoveredPack> = from === "user" ? {} : from;
  // A pack may call itself by the name in its package.json.
  const others = names.filter((one) => one !== name && one !== packageName);
  await lookUp(port, found, others, { directory: location ?? found.project, origin: "transitive" });
}

/**
 * Looks for the pack that a command or a caller names, or whose item it names, from the project. It becomes `undeclared`
 * if it was not read.
 */
export const lookUpSubject = (port: DiscoveryPort, found: FoundPacks, subject: string): Promise<void> =>
  lookUp(port, found, packNamesIn(subject), { directory: found.project, origin: "undeclared" });
