import type { RemoteSearch, RemoteSearchOptions } from "./npm/search-packs.ts";

export type { RemoteItem, RemotePack } from "./npm/registry/remote-pack.ts";
export type { RemoteSearch, RemoteSearchOptions, SearchProgress } from "./npm/search-packs.ts";

/**
 * Searches the registries of the user's npm configuration for packs: packages with the keyword `trailblaze-extension`
 * and a `trailblaze` field. Without a text, all packs are meant. Works outside a project, too.
 *
 * Trust level: discovery, with the network: sends requests to those registries; downloads no package, runs nothing.
 * Answers are kept in the user's folder of caches. Where registries cannot be asked it answers from there, with a warning
 * `RegistryUnavailable` among `problems`.
 *
 * Throws `TrailblazeError` `RegistryUnavailable` where there is no answer at all.
 */
export async function searchPacks(text = "", options: RemoteSearchOptions = {}): Promise<RemoteSearch> {
  // What talks to registries is large, and the entry of the library should not wait for it.
  const { searchPacks: search } = await import("./npm/search-packs.ts");
  return search(text, options);
}

/** Every pack of the registries: `searchPacks` without a text. */
export function listRemotePacks(options: RemoteSearchOptions = {}): Promise<RemoteSearch> {
  return searchPacks("", options);
}
