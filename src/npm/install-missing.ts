import { isRecord } from "../data/parse-json.ts";
import { resolveFrom } from "../discovery/package-folders.ts";
import { dependencyKeys, findProject } from "../discovery/project.ts";
import type { Manifest } from "../discovery/types.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { TrailblazeError } from "../problems/index.ts";
import { type AddedPacks, type AddOptions, addParsedPacks } from "./add-packs.ts";
import { parseReferredPack } from "./parse-specs.ts";

export type MissingPacksResult = Pick<AddedPacks, "added" | "problems">;

/** A referenced pack that is not installed, with the range of a reference. */
export interface MissingPack {
  /** The npm name. */
  name: string;
  range: string | undefined;
}

/** The version that a package.json declares for a dependency; `undefined` if it does not declare the dependency. */
function declaredVersion(manifest: Manifest | undefined, name: string): unknown {
  for (const key of dependencyKeys) {
    const declared = manifest?.value[key];
    if (isRecord(declared) && Object.hasOwn(declared, name)) return declared[name];
  }
  return undefined;
}

/**
 * Installs a missing pack like `addPacks`, for callers with prior consent: `--install` or `packs.autoInstall`. Selects a
 * version in the range that package.json declares, otherwise in that of the reference. A failure becomes a problem.
 */
export async function installMissing(
  { name, range }: MissingPack,
  options: Omit<AddOptions, "consent"> = {},
): Promise<MissingPacksResult> {
  const { cwd = process.cwd() } = options;
  const port = createNodeDiscoveryPort();
  const { directory, manifest } = findProject(port, cwd);
  if (resolveFrom(port, directory, name) !== undefined) return { added: [], problems: [] };
  try {
    const spec = parseReferredPack(name, range, declaredVersion(manifest, name));
    return await addParsedPacks([spec], { ...options, cwd, consent: () => true });
  } catch (error) {
    if (!(error instanceof TrailblazeError)) throw error;
    return { added: [], problems: [{ ...error.problem, pack: name }] };
  }
}
