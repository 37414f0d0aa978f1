import type { RemoteSearch, RemoteSearchOptions } from "./npm/search-packs.ts";

export type { RemoteItem, RemotePack, RemoteSearch, RemoteSearchOptions } from "./npm/search-packs.ts";

/**
 * Searches the registries of the user's npm configuration for packs: packages with the keyword `trailblaze-extension`
 * and a `trailblaze` field. Without a text, it returns all packs. Works outside a project, too.
 *
 * Trust level: discovery, plus the network: it sends requests to those registries, but downloads and runs no packages.
 * Responses are kept in the user's cache folder. If a registry is unavailable, results come from there, with a warning
 * `RegistryUnavailable` in `problems`.
 *
 * Throws `TrailblazeError` `RegistryUnavailable` if there are no results at all.
 */
export async function searchPacks(text = "", options: RemoteSearchOptions = {}): Promise<RemoteSearch> {
  // The registry client is large, so the library loads it on demand.
  const { searchPacks: search } = await import("./npm/search-packs.ts");
  return search(text, options);
}
