import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { type DiscoveryOptions, findPacks } from "./find-packs.ts";
import type { Discovery } from "./types.ts";

/**
 * Lists the packs that are installed for the project that contains a folder, including broken ones.
 *
 * Trust level: discovery. Reads package.json files of packs, the project's config, its workspace file and
 * package-manager metadata; opens no other file of a pack, runs nothing, does not use the network.
 *
 * Throws `TrailblazeError` only if no result is possible: `ProjectNotFound`, `InvalidConfig`.
 */
export async function discoverPacks(options: DiscoveryOptions = {}): Promise<Discovery> {
  const { project, packs, problems } = await findPacks(createNodeDiscoveryPort(), options);
  return { project, packs: packs.map(({ pack }) => pack), problems };
}
