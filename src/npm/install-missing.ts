import { isRecord } from "../data/parse-json.ts";
import { resolveFrom } from "../discovery/package-folders.ts";
import { dependencyKeys, findProject } from "../discovery/project.ts";
import type { Manifest } from "../discovery/types.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { TrailblazeError } from "../problems/index.ts";
import { type AddedPacks, type AddOptions, addParsedPacks } from "./add-packs.ts";
import { parseReferredPack } from "./parse-specs.ts";
import type { PackPreview } from "./preview-packs.ts";

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
 * Installs missing packs like `addPacks`, for callers with prior consent: `--install` or `packs.autoInstall`. Selects
 * versions in the ranges that package.json declares, otherwise in those given. Failures become problems and do not stop the
 * others.
 */
export async function installMissing(
  packs: readonly MissingPack[],
  options: Omit<AddOptions, "consent"> & { onPreview?: (preview: PackPreview) => void } = {},
): Promise<MissingPacksResult> {
  const { cwd = process.cwd(), onPreview } = options;
  const port = createNodeDiscoveryPort();
  const result: MissingPacksResult = { added: [], problems: [] };
  const consent = (previews: readonly PackPreview[]) => {
    for (const preview of previews) onPreview?.(preview);
    return true;
  };
  for (const { name, range } of packs) {
    const { directory, manifest } = findProject(port, cwd);
    if (resolveFrom(port, directory, name) !== undefined) continue;
    try {
      const declared = declaredVersion(manifest, name);
      const spec = parseReferredPack(name, range, declared);
      const { added, problems } = await addParsedPacks([spec], { ...options, cwd, consent });
      result.added.push(...added);
      result.problems.push(...problems);
    } catch (error) {
      if (!(error instanceof TrailblazeError)) throw error;
      result.problems.push({ ...error.problem, pack: name });
    }
  }
  return result;
}
