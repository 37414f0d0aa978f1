import { readConfig } from "../config/read-config.ts";
import type { SessionConfig } from "../config/session-config.ts";
import type { DiscoveredPack, FoundPack } from "../discovery/types.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { loadDefinitions } from "../inspection/load-definitions.ts";
import { TrailblazeError } from "../problems/index.ts";
import { mayBeReferredTo } from "./mentioned-packs.ts";
import { referencesOf, selectPacks } from "./select-packs.ts";

/**
 * The packs with `enabled` as a session decides it: transitive packs that others refer to are included. Reads
 * definitions only if that can change the answer, and only those that are data. Trust level: inspection; runs nothing.
 */
export async function decideEnabledPacks(
  packs: readonly FoundPack[],
  config: SessionConfig,
): Promise<DiscoveredPack[]> {
  const discovered = packs.map(({ pack }) => pack);
  if (!packs.some(mayBeReferredTo)) return discovered;
  const port = createNodeInspectionPort();
  const { selected } = await selectPacks(packs, config.packs, referencesOf(config), (pack) =>
    loadDefinitions(port, pack.found, {
      only: pack.selected,
      dataOnly: true,
      createEvaluator: () => Promise.reject(new Error("definitions that are code are not evaluated")),
    }),
  );
  const used = new Set(selected.map(({ pack }) => pack.location));
  return discovered.map((pack) => (used.has(pack.location) ? { ...pack, enabled: true } : pack));
}

/** The same for the project's own config. If it cannot be used, no session opens and `enabled` stays as it is. */
export async function decideEnabledPacksOfProject(
  packs: readonly FoundPack[],
  directory: string,
): Promise<DiscoveredPack[]> {
  try {
    return await decideEnabledPacks(packs, await readConfig(createNodeInspectionPort(), { directory }));
  } catch (error) {
    if (error instanceof TrailblazeError && error.code === "InvalidConfig")
      return packs.map(({ pack }) => pack);
    throw error;
  }
}
