import { discoveryPort } from "../files/node-discovery-port.ts";
import { type DiscoveryOptions, findPacks } from "./find-packs.ts";
import type { Discovery } from "./types.ts";

/**
 * Lists the packs that the project which contains a folder declares, including broken ones; with `all` every installed
 * pack.
 *
 * Trust level: discovery. Reads package.json files, the project's config, its workspace file and package-manager metadata;
 * opens no other file of a pack, runs nothing, does not use the network.
 *
 * Throws `TrailblazeError` only if no result is possible: `ProjectNotFound`, `InvalidConfig`.
 */
export async function discoverPacks(options: DiscoveryOptions = {}): Promise<Discovery> {
  const { project, packs, problems } = await findPacks(discoveryPort, options);
  const scope = options.all === true ? "all" : "declared";
  return { project, scope, packs: packs.map(({ pack }) => pack), problems };
}
