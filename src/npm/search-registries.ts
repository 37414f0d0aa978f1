import { isRecord } from "../data/parse-json.ts";
import { maximumManifestBytes } from "../files/discovery-port.ts";
import { createProblem, failure, type Problem } from "../problems/index.ts";
import { defaultSearchLimits, findHits, type Hit, type SearchLimits } from "./find-hits.ts";
import type { RegistryPort } from "./registry-port.ts";
import { type ReaderMeans, RegistryReader } from "./registry-reader.ts";
import {
  describeRemotePack,
  findVersion,
  hasPackKeyword,
  maximumPackumentBytes,
  packKeyword,
  type RemotePack,
} from "./remote-pack.ts";

/** What was found in registries. */
export interface RemoteSearch {
  packs: RemotePack[];
  /** How many there are. */
  total: number;
  /** `cache` where no registry was reached. */
  source: "network" | "cache";
  problems: Problem[];
}

/** How far a search is. */
export interface SearchProgress {
  read: number;
  of: number;
}

export interface SearchMeans extends ReaderMeans {
  /** A path segment for a package's name. */
  escapeName(name: string): string;
  /** Names of the packages that are installed as packs. */
  installed: ReadonlySet<string>;
  onProgress?: ((progress: SearchProgress) => void) | undefined;
  search?: SearchLimits;
}

/** Manifests that are read at once: npm's own number of sockets is twelve. */
const concurrency = 8;
/** Pages of a search that is tried where keywords did not help. */
const maximumOptionalPages = 4;

/** Whether documents are about a package at all; which one is looked at later. */
const isManifest = ({ name }: Readonly<Record<string, unknown>>) => typeof name === "string";
const isPackument = ({ versions }: Readonly<Record<string, unknown>>) => isRecord(versions);

/** Runs a function over a list, some at once, in the list's order. */
async function mapSome<From, To>(list: readonly From[], map: (one: From) => Promise<To>): Promise<To[]> {
  const results: To[] = new Array(list.length);
  let next = 0;
  const work = async () => {
    while (next < list.length) {
      const index = next++;
      results[index] = await map(list[index] as From);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, list.length) }, work));
  return results;
}

class Search {
  readonly #means: SearchMeans;
  readonly #reader: RegistryReader;
  #read = 0;
  #of = 0;

  constructor(means: SearchMeans, reader: RegistryReader) {
    this.#means = means;
    this.#reader = reader;
  }

  /** The manifest of a hit's newest version, where registries that lack the short way have it in the long one. */
  async #readManifest(registry: string, name: string): Promise<unknown> {
    const path = this.#means.escapeName(name);
    const short = await this.#reader.read(registry, `${path}/latest`, maximumManifestBytes, {
      isExpected: isManifest,
    });
    if (short.state !== "absent") return short.state === "read" ? short.value : undefined;
    const long = await this.#reader.read(registry, path, maximumPackumentBytes, {
      isOptional: true,
      isExpected: isPackument,
    });
    return long.state === "read" ? findVersion(long.value, "latest") : undefined;
  }

  /** What a hit turns out to be: a pack has both keyword and field. */
  async #readHit(registry: string, { name, hasKeyword }: Hit) {
    const { installed, onProgress } = this.#means;
    const manifest = await this.#readManifest(registry, name);
    onProgress?.({ read: ++this.#read, of: this.#of });
    if (!isRecord(manifest)) return { hasKeyword, pack: undefined };
    const isFindable = hasPackKeyword(manifest.keywords) === true;
    const pack = isFindable ? describeRemotePack(name, manifest, installed.has(name)) : undefined;
    return { hasKeyword: isFindable, pack };
  }

  /** The packs among the hits of one query, and whether the registry seems to know keywords. */
  async #query(registry: string, text: string, known: ReadonlySet<string>, isOptional = false) {
    const { port, search = defaultSearchLimits } = this.#means;
    const limits = isOptional ? { ...search, pages: Math.min(search.pages, maximumOptionalPages) } : search;
    const { hits, failed } = await findHits(this.#reader, registry, text, limits, isOptional);
    // A package counts only where npm would install it from: another registry may say anything about it.
    const own = hits.filter(({ name }) => port.registryOf(name) === registry && !known.has(name));
    const candidates = own.filter(({ hasKeyword }) => hasKeyword !== false);
    this.#of += candidates.length;
    const read = await mapSome(candidates, (hit) => this.#readHit(registry, hit));
    const packs = read.flatMap(({ pack }) => pack ?? []);
    const knowsKeywords =
      hits.length > 0 &&
      hits.every(({ hasKeyword }) => hasKeyword !== false) &&
      read.every(({ hasKeyword }) => hasKeyword !== false);
    return { packs, failed, knowsKeywords };
  }

  /** Everything in one registry. Throws nothing; `failed` tells why it could not be searched. */
  async searchRegistry(registry: string, text: string): Promise<{ packs: RemotePack[]; failed?: string }> {
    const query = `keywords:${packKeyword}${text === "" ? "" : ` ${text}`}`;
    const { packs, failed, knowsKeywords } = await this.#query(registry, query, new Set());
    if (failed !== undefined) return { packs, failed };
    if (knowsKeywords) return { packs };
    // There may be registries that look into names and descriptions only: by text, then, and manifests decide.
    const texts = text === "" ? [packKeyword, ""] : [text];
    for (const one of texts) {
      const known = new Set(packs.map(({ name }) => name));
      packs.push(...(await this.#query(registry, one, known, true)).packs);
    }
    return { packs };
  }
}

function explainFaults(port: RegistryPort, faults: ReadonlyMap<string, string>): Problem[] {
  return [...faults].map(([address, reason]) =>
    createProblem("RegistryUnavailable", { registry: port.show(address), reason, answered: true }),
  );
}

/**
 * Searches every registry of the user's npm configuration for packs. Without a text, all are meant, and they come
 * ordered by name; else in the registry's order. Throws `TrailblazeError` `RegistryUnavailable` where not even the cache
 * has an answer of any registry.
 */
export async function searchRegistries(means: SearchMeans, text: string): Promise<RemoteSearch> {
  const reader = new RegistryReader(means);
  const search = new Search(means, reader);
  const wanted = text.trim();
  const { port, mode, cache } = means;
  const answers = await Promise.all(
    port.registries.map(async (registry) => ({
      registry,
      ...(await search.searchRegistry(registry, wanted)),
    })),
  );
  const failed = answers.filter((answer) => answer.failed !== undefined);
  const [first] = failed;
  if (first?.failed !== undefined && failed.length === answers.length)
    throw failure("RegistryUnavailable", { registry: port.show(first.registry), reason: first.failed });
  const faults = new Map(reader.faults);
  for (const { registry, failed: reason } of failed) if (reason !== undefined) faults.set(registry, reason);
  if (mode === "offline") for (const address of faults.keys()) faults.set(address, "was not asked");
  if (mode !== "offline") cache.prune();
  const packs = answers.flatMap((answer) => answer.packs);
  if (wanted === "") packs.sort((a, b) => (a.name < b.name ? -1 : 1));
  const source = reader.reachedNetwork ? "network" : "cache";
  return { packs, total: packs.length, source, problems: explainFaults(port, faults) };
}
