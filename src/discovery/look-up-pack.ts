import type { DiscoveryPort } from "../files/discovery-port.ts";
import { isQualifiedName, parseQualifiedName } from "../qualified-names/index.ts";
import { describePackages } from "./describe-pack.ts";
import type { FoundPacks } from "./find-packs.ts";
import { readManifests } from "./manifest.ts";
import { packageFolders, packNamesIn } from "./package-folders.ts";
import { compareText, decideEnabled } from "./rank-packs.ts";
import type { DiscoveredPack } from "./types.ts";

/** Whether a name is that of a pack in its own definitions: the one it is installed under, or package.json's. */
const isOwnName = ({ name, packageName }: DiscoveredPack, wanted: string) =>
  name === wanted || packageName === wanted;

/**
 * Finds a pack by name: among those that were found, or else on demand, as Node finds it from a folder. Adds a pack that
 * was not read before to `found`.
 */
async function lookUpPack(
  port: DiscoveryPort,
  found: FoundPacks,
  name: string,
  from: { directory: string; origin: "transitive" | "undeclared" },
): Promise<void> {
  if (found.packs.some(({ pack }) => pack.name === name && pack.origin !== "global")) return;
  const { directory, origin } = from;
  const packages = readManifests(port, packageFolders(port, directory, [name], origin), []);
  for (const added of await describePackages(packages, found.broken)) {
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
  references: readonly string[],
  from: DiscoveredPack | "user",
): Promise<void> {
  const names = references
    .filter((reference) => isQualifiedName(reference))
    .map((reference) => parseQualifiedName(reference).packageName);
  for (const name of new Set(names)) {
    if (from !== "user" && isOwnName(from, name)) continue;
    const directory = from === "user" ? found.project : from.location;
    await lookUpPack(port, found, name, { directory, origin: "transitive" });
  }
}

/**
 * Looks for the pack that a command or a caller names, or whose item it names, from the project. It becomes `undeclared`
 * if it was not read.
 */
export async function lookUpSubject(port: DiscoveryPort, found: FoundPacks, subject: string): Promise<void> {
  for (const name of packNamesIn(subject))
    await lookUpPack(port, found, name, { directory: found.project, origin: "undeclared" });
}
