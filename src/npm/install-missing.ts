import { findPacks } from "../discovery/find-packs.ts";
import { declaredVersion, findProject } from "../discovery/project.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { TrailblazeError } from "../problems/index.ts";
import { type AddedPacks, type AddOptions, addParsedPacks } from "./add-packs.ts";
import { parseReferredPack } from "./parse-specs.ts";
import type { PackPreview } from "./preview-packs.ts";

export type MissingPacksResult = Pick<AddedPacks, "added" | "problems">;

/** A pack that references ask for, each perhaps in a range. */
export interface MissingPack {
  /** The npm name. */
  name: string;
  ranges: readonly (string | undefined)[];
}

/**
 * Installs those of some packs that are not installed, as `addPacks` does, for who has been allowed to beforehand: by
 * `--install`, or by `packs.autoInstall`. Takes a version that all ranges allow, that of package.json among them if the
 * pack is declared there. What cannot be installed is among the problems, and hides no other.
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
  for (const { name, ranges } of packs) {
    const { resolvePackage } = await findPacks(port, { cwd });
    if (resolvePackage(name) !== undefined) continue;
    try {
      const declared = declaredVersion(findProject(port, cwd).manifest, name);
      const spec = parseReferredPack(name, ranges, declared);
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
