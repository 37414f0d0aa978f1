import { isRecord } from "../data/parse-json.ts";
import { findPacks } from "../discovery/find-packs.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { readUntrustedNpmConfiguration, withheldLines } from "../files/npm-configuration.ts";
import { createProblem, failure, type Problem, TrailblazeError } from "../problems/index.ts";
import { isPackageName } from "../qualified-names/index.ts";
import { createRegistryClient, type RegistryClient, type RegistryRead } from "./registry/registry-client.ts";
import { describeRemotePack, hasPackKeyword, packKeyword, type RemotePack } from "./registry/remote-pack.ts";

/** The result of a search. */
export interface RemoteSearch {
  packs: RemotePack[];
  /** The number of packs. */
  total: number;
  /** `cache` if no registry could be reached. */
  source: "network" | "cache";
  problems: Problem[];
}

/** The progress of a search. */
export interface SearchProgress {
  read: number;
  of: number;
}

/** Which registries a search uses, and its timeout. */
export interface RemoteSearchOptions {
  /** Folder of the project whose npm configuration applies; default: the working folder of the process. */
  cwd?: string;
  /** Ask registries even for cached responses that they declared to be fresh. */
  refresh?: boolean;
  /** Use only the cache; make no requests. */
  offline?: boolean;
  /** The timeout of one document of a registry in milliseconds, with retries; default: 20 s. */
  timeoutMs?: number;
  /** Called as responses arrive. */
  onProgress?: (progress: SearchProgress) => void;
  signal?: AbortSignal;
}

const everything = { allow: undefined, deny: [], transitive: [] };

/** The number of concurrent requests. npm's limit on sockets is twelve. */
const concurrency = 8;

/** Maps an array with limited concurrency. Results keep the order. */
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

/** A search hit; `hasKeyword` is `undefined` if the hit has no keywords. */
interface Hit {
  name: string;
  hasKeyword: boolean | undefined;
}

/** The limit of npm's registry. */
const pageSize = 250;
/** npm's registry rejects requests after about ten pages. */
const maximumPages = 10;
/** Limit on the pages of a text search, for registries without keyword search. */
const maximumOptionalPages = 4;

function readHit(object: unknown): Hit | undefined {
  const found = isRecord(object) ? object.package : undefined;
  if (!isRecord(found) || typeof found.name !== "string" || !isPackageName(found.name)) return undefined;
  return { name: found.name, hasKeyword: hasPackKeyword(found.keywords) };
}

class Search {
  readonly #client: RegistryClient;
  readonly #installed: ReadonlySet<string>;
  readonly #onProgress: RemoteSearchOptions["onProgress"];
  /** The first failure of each registry, as a reason by address. */
  readonly failures = new Map<string, string>();
  /** Whether any registry answered. */
  reachedNetwork = false;
  #read = 0;
  #of = 0;

  constructor(
    client: RegistryClient,
    { installed }: Awaited<ReturnType<typeof readProject>>,
    onProgress: RemoteSearchOptions["onProgress"],
  ) {
    this.#client = client;
    this.#installed = installed;
    this.#onProgress = onProgress;
  }

  /** Notes what a read says of its registry. Failures of an optional read are not reported. */
  #note(registry: string, read: RegistryRead, isOptional = false): RegistryRead {
    const reason = read.state === "read" ? read.failure : read.state === "failed" ? read.reason : undefined;
    if (reason === undefined) this.reachedNetwork = true;
    else if (!isOptional && !this.failures.has(registry)) this.failures.set(registry, reason);
    return read;
  }

  /**
   * Searches a registry page by page until there are no new hits. `failed` is the reason if the first page is unavailable;
   * failures of later pages are noted.
   */
  async #findHits(
    registry: string,
    text: string,
    isOptional: boolean,
  ): Promise<{ hits: Hit[]; failed?: string }> {
    const hits = new Map<string, Hit>();
    const pages = isOptional ? maximumOptionalPages : maximumPages;
    for (let page = 0, from = 0; page < pages; page++) {
      const query = new URLSearchParams({ text, size: String(pageSize), from: String(from) });
      const read = this.#note(
        registry,
        await this.#client.read(registry, `-/v1/search?${query}`),
        isOptional,
      );
      const objects: unknown = read.state === "read" ? read.value.objects : undefined;
      if (read.state !== "read" || !Array.isArray(objects)) {
        if (page > 0) break;
        if (read.state === "failed") return { hits: [], failed: read.reason };
        const isPage = read.state === "absent";
        return { hits: [], failed: isPage ? "does not support searching" : "sent an unexpected response" };
      }
      const before = hits.size;
      for (const object of objects) {
        const hit = readHit(object);
        if (hit !== undefined && !hits.has(hit.name)) hits.set(hit.name, hit);
      }
      from += objects.length;
      const { total } = read.value;
      // A registry may return fewer hits than requested, and may repeat hits at the end.
      const mayHaveMore = objects.length >= pageSize || (typeof total === "number" && from < total);
      if (hits.size === before || !mayHaveMore) break;
    }
    return { hits: [...hits.values()] };
  }

  /** Reads a hit. A pack has both the keyword and the field. */
  async #readHit(registry: string, { name, hasKeyword }: Hit) {
    const read = this.#note(registry, await this.#client.readManifest(registry, name, "latest"));
    this.#onProgress?.({ read: ++this.#read, of: this.#of });
    if (read.state !== "read") return { hasKeyword, pack: undefined };
    const manifest = read.value;
    const isFindable = hasPackKeyword(manifest.keywords) === true;
    const pack = isFindable ? describeRemotePack(name, manifest, this.#installed.has(name)) : undefined;
    return { hasKeyword: isFindable, pack };
  }

  /** Finds the packs among the hits of one query, and whether the registry seems to support keyword search. */
  async #query(registry: string, text: string, known: ReadonlySet<string>, isOptional = false) {
    const { hits, failed } = await this.#findHits(registry, text, isOptional);
    // Only hits from the registry that npm would use are trusted.
    const own = hits.filter(({ name }) => this.#client.registryOf(name) === registry && !known.has(name));
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

  /** Searches one registry. Never rejects; `failed` is the reason if it could not be searched. */
  async searchRegistry(registry: string, text: string): Promise<{ packs: RemotePack[]; failed?: string }> {
    const query = `keywords:${packKeyword}${text === "" ? "" : ` ${text}`}`;
    const { packs, failed, knowsKeywords } = await this.#query(registry, query, new Set());
    if (failed !== undefined) return { packs, failed };
    if (knowsKeywords) return { packs };
    // The registry may search only names and descriptions, so search by text and check the manifests.
    const texts = text === "" ? [packKeyword, ""] : [text];
    for (const one of texts) {
      const known = new Set(packs.map(({ name }) => name));
      packs.push(...(await this.#query(registry, one, known, true)).packs);
    }
    return { packs };
  }
}

function describeFailures(
  client: RegistryClient,
  failures: ReadonlyMap<string, string>,
  withheld: ReadonlyMap<string, string>,
): Problem[] {
  return [...failures].map(([address, reason]) =>
    createProblem("RegistryUnavailable", {
      registry: client.show(address),
      reason,
      answered: true,
      withheld: withheldLines(withheld, address),
    }),
  );
}

/** The folder of a project's .npmrc (its workspace's root, if any), and the names of its packs. */
async function readProject(cwd: string): Promise<{ directory?: string; installed: Set<string> }> {
  const port = createNodeDiscoveryPort();
  try {
    const { packs, workspace } = await findPacks(port, { cwd, policy: everything, all: true });
    return { directory: workspace.root, installed: new Set(packs.map(({ pack }) => pack.name)) };
  } catch (error) {
    // A search works outside a project, too.
    if (error instanceof TrailblazeError) return { installed: new Set() };
    throw error;
  }
}

/** Implements `searchPacks` of src/remote.ts, which documents it. */
export async function searchPacks(text: string, options: RemoteSearchOptions): Promise<RemoteSearch> {
  const {
    cwd = process.cwd(),
    refresh = false,
    offline = false,
    timeoutMs = 20_000,
    onProgress,
    signal,
  } = options;
  if (typeof text !== "string")
    throw failure("InvalidArguments", { reason: "The search text must be a string" });
  const project = await readProject(cwd);
  const { directory } = project;
  const { configuration, withheld } = readUntrustedNpmConfiguration({
    projectDirectory: directory,
    env: process.env,
  });
  const mode = offline ? "offline" : refresh ? "refresh" : "normal";
  const client = createRegistryClient(configuration, { mode, timeoutMs, signal });
  const search = new Search(client, project, onProgress);
  const wanted = text.trim();
  const answers = await Promise.all(
    client.registries.map(async (registry) => ({
      registry,
      ...(await search.searchRegistry(registry, wanted)),
    })),
  );
  const failed = answers.filter((answer) => answer.failed !== undefined);
  const [first] = failed;
  if (first?.failed !== undefined && failed.length === answers.length)
    throw failure("RegistryUnavailable", {
      registry: client.show(first.registry),
      reason: first.failed,
      withheld: withheldLines(withheld, first.registry),
    });
  const failures = new Map(search.failures);
  for (const { registry, failed: reason } of failed) if (reason !== undefined) failures.set(registry, reason);
  for (const registry of client.registries)
    if (withheldLines(withheld, registry).length > 0 && !failures.has(registry))
      failures.set(registry, "was read without the credentials in the project's .npmrc");
  const packs = answers.flatMap((answer) => answer.packs);
  if (wanted === "") packs.sort((a, b) => (a.name < b.name ? -1 : 1));
  const source = search.reachedNetwork ? "network" : "cache";
  return {
    packs,
    total: packs.length,
    source,
    problems: describeFailures(client, failures, withheld),
  };
}
