import { findPacks } from "./discovery/find-packs.ts";
import { createNodeDiscoveryPort } from "./files/node-discovery-port.ts";
import type { ReaderLimits } from "./npm/registry-reader.ts";
import type { RemoteSearch, SearchProgress } from "./npm/search-registries.ts";
import { failure, TrailblazeError } from "./problems/index.ts";

export type { RemoteItem, RemotePack } from "./npm/remote-pack.ts";
export type { RemoteSearch, SearchProgress } from "./npm/search-registries.ts";

export interface RemoteSearchOptions {
  /** Folder whose project's npm configuration counts; default: the process's. */
  cwd?: string;
  /** Ask for everything anew, whatever the cache has. */
  refresh?: boolean;
  /** Ask nobody: answer from the cache. */
  offline?: boolean;
  /** Times in milliseconds; defaults: 20 s for an answer, 30 s for waits that a registry asks for, 3 min for all. */
  limits?: Partial<ReaderLimits>;
  onProgress?: (progress: SearchProgress) => void;
  signal?: AbortSignal;
}

const everything = { allow: undefined, deny: [], transitive: [] };

/** Names of the packs that are installed here; none without a project. */
async function findInstalled(cwd: string): Promise<Set<string>> {
  try {
    const { packs } = await findPacks(createNodeDiscoveryPort(), { cwd, policy: everything });
    return new Set(packs.map(({ pack }) => pack.name));
  } catch (error) {
    if (error instanceof TrailblazeError) return new Set();
    throw error;
  }
}

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
  const { cwd = process.cwd(), refresh = false, offline = false, limits, onProgress, signal } = options;
  if (typeof text !== "string") throw failure("InvalidArguments", { reason: "What to search for is a text" });
  // What talks to registries is large, and the entry of the library should not wait for it.
  const [{ searchRegistries }, { defaultLimits }, { escapePackageName }, registries] = await Promise.all([
    import("./npm/search-registries.ts"),
    import("./npm/registry-reader.ts"),
    import("./npm/registry-client.ts"),
    import("./npm/registry-means.ts"),
  ]);
  const means = {
    port: await registries.createRegistryPort(cwd),
    cache: registries.createRegistryCache(),
    mode: offline ? "offline" : refresh ? "refresh" : "normal",
    limits: { ...defaultLimits, ...limits },
    escapeName: escapePackageName,
    installed: await findInstalled(cwd),
    onProgress,
    signal,
  } as const;
  return await searchRegistries(means, text);
}

/** Every pack of the registries: `searchPacks` without a text. */
export function listRemotePacks(options: RemoteSearchOptions = {}): Promise<RemoteSearch> {
  return searchPacks("", options);
}
