import type { FoundPack } from "../discovery/types.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";

/** A session may use such a pack although discovery does not enable it: something may refer to it. */
export const mayBeReferredTo = ({ pack: { origin, enabled, shadowed } }: FoundPack): boolean =>
  origin === "transitive" && !enabled && !shadowed;

/** The kinds of items whose definitions refer to items of other packs. */
const referring = ["servers", "toolsets"] as const;
/** How a name can be written so that a search for it fails: escapes, and YAML's broken lines. */
const escapes = /\\[ux/\r\n]/;

/**
 * Whether the project's config or an enabled pack may refer to a transitive pack. Searches the texts of definitions without
 * parsing them, so that most projects need no more. Trust level: inspection.
 */
export function mentionsTransitivePacks(packs: readonly FoundPack[], directory: string): boolean {
  const names = packs.filter(mayBeReferredTo).map(({ pack }) => pack.qualifiedName);
  if (names.length === 0) return false;
  const port = createNodeInspectionPort();
  const configs = ["trailblaze.config.yaml", "trailblaze.config.yml", "trailblaze.config.json"] as const;
  if (configs.some((name) => port.hasProjectFile(directory, name))) return true;
  return packs.some(({ pack, extension }) => {
    if (!pack.enabled) return false;
    const { root } = extension;
    const files = referring
      .filter((key) => pack[key].length > 0)
      .flatMap((key) => [
        ...(port.listFiles(pack.location, root) ?? [])
          .filter((name) => name.startsWith(`${key}.`))
          .map((name) => `${root}/${name}`),
        ...(port.listFiles(pack.location, `${root}/${key}`) ?? []).map((name) => `${root}/${key}/${name}`),
      ]);
    return files.some((file) => {
      const read = port.readFile(pack.location, file);
      if (read.state !== "read") return false;
      const text = Buffer.from(read.bytes).toString();
      return escapes.test(text) || names.some((name) => text.includes(name));
    });
  });
}
