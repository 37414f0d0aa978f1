import { isRecord } from "../data/parse-json.ts";
import { findPacks } from "../discovery/find-packs.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { readUntrustedNpmConfiguration, withheldLines } from "../files/npm-configuration.ts";
import { createProblem, failure, type Problem, TrailblazeError } from "../problems/index.ts";
import { isPackageName } from "../qualified-names/index.ts";
import { createRegistryClient, type RegistryClient } from "./registry/registry-client.ts";
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
  signal?: AbortSignal;
}

const everything = { allow: undefined, deny: [], transitive: [] };

/** How many hits are read at once. npm's limit on sockets is twelve. */
const concurrency = 8;

/** The limit of npm's registry. */
const pageSize = 250;
/** npm's registry rejects requests after about ten pages. */
const maximumPages = 10;

/** The search of one registry. */
class RegistrySearch {
  readonly #client: RegistryClient;
  readonly registry: string;
  /** Why a document is from the cache, or missing: the first reason. */
  failure: string | undefined;
  reachedNetwork = false;

  constructor(client: RegistryClient, registry: string) {
    this.#client = client;
    this.registry = registry;
  }

  /**
   * Searches page by page until there are no new hits. Returns whether each has the keyword, by its name; `undefined` if
   * there is no first page.
   */
  async #findHits(text: string): Promise<{ hits?: Map<string, boolean | undefined>; failure?: string }> {
    const hits = new Map<string, boolean | undefined>();
    for (let page = 0, from = 0; page < maximumPages; page++) {
      const query = new URLSearchParams({ text, size: String(pageSize), from: String(from) });
      const read = await this.#client.read(this.registry, `-/v1/search?${query}`);
      if (read.state === "failed")
        return page === 0 ? { failure: read.reason } : { hits, failure: read.reason };
      const objects: unknown = read.state === "read" ? read.value.objects : undefined;
      if (read.state === "absent" || !Array.isArray(objects)) {
        const what = read.state === "absent" ? "does not support searching" : "sent an unexpected response";
        return page === 0 ? { failure: what } : { hits };
      }
      this.#note(read.failure);
      const before = hits.size;
      for (const object of objects) {
        const { name, keywords } = (isRecord(object) && isRecord(object.package) && object.package) || {};
        if (typeof name === "string" && isPackageName(name) && !hits.has(name))
          hits.set(name, hasPackKeyword(keywords));
      }
      from += objects.length;
      const { total } = read.value;
      // A registry may return fewer hits than requested, and may repeat hits at the end.
      const mayHaveMore = objects.length >= pageSize || (typeof total === "number" && from < total);
      if (hits.size === before || !mayHaveMore) break;
    }
    return { hits };
  }

  #note(failure: string | undefined): void {
    if (failure === undefined) this.reachedNetwork = true;
    else this.failure ??= failure;
  }

  /** Reads a hit. A pack has both the keyword and the field. */
  async #readHit(name: string, installed: ReadonlySet<string>): Promise<RemotePack | undefined> {
    const read = await this.#client.readManifest(this.registry, name, "latest");
    if (read.state === "failed") this.failure ??= read.reason;
    if (read.state !== "read") return undefined;
    this.#note(read.failure);
    const isFindable = hasPackKeyword(read.value.keywords) === true;
    return isFindable ? describeRemotePack(name, read.value, installed.has(name)) : undefined;
  }

  /** Finds packs by text; all without one. `undefined`: the registry cannot be searched, and `failure` says why. */
  async find(text: string, installed: ReadonlySet<string>): Promise<RemotePack[] | undefined> {
    const { hits, failure } = await this.#findHits(`keywords:${packKeyword} ${text}`.trim());
    this.failure ??= failure;
    if (hits === undefined) return undefined;
    // A registry that ignores keywords, or takes them for words, is searched by text, and the manifests are checked.
    const knowsKeywords = hits.size > 0 && [...hits.values()].every((hasKeyword) => hasKeyword === true);
    const others = text === "" ? [packKeyword, ""] : [text];
    for (const other of knowsKeywords ? [] : others)
      for (const [name, hasKeyword] of (await this.#findHits(other)).hits ?? []) hits.set(name, hasKeyword);
    // Only hits from the registry that npm would use are trusted.
    const names = [...hits].flatMap(([name, hasKeyword]) =>
      hasKeyword !== false && this.#client.registryOf(name) === this.registry ? [name] : [],
    );
    const packs: (RemotePack | undefined)[] = [];
    for (let from = 0; from < names.length; from += concurrency) {
      const some = names.slice(from, from + concurrency);
      packs.push(...(await Promise.all(some.map((name) => this.#readHit(name, installed)))));
    }
    return packs.flatMap((pack) => pack ?? []);
  }
}

/** The folder of a project's .npmrc (its workspace's root, if any), and the names of its packs. */
async function readProject(cwd: string): Promise<{ directory?: string; installed: Set<string> }> {
  try {
    const options = { cwd, policy: everything, all: true };
    const { packs, workspace } = await findPacks(createNodeDiscoveryPort(), options);
    return { directory: workspace.root, installed: new Set(packs.map(({ pack }) => pack.name)) };
  } catch (error) {
    // A search works outside a project, too.
    if (error instanceof TrailblazeError) return { installed: new Set() };
    throw error;
  }
}

/** Implements `searchPacks` of src/remote.ts, which documents it. */
export async function searchPacks(text: string, options: RemoteSearchOptions): Promise<RemoteSearch> {
  const { cwd = process.cwd(), refresh = false, offline = false, timeoutMs = 20_000, signal } = options;
  if (typeof text !== "string")
    throw failure("InvalidArguments", { reason: "The search text must be a string" });
  const { directory: projectDirectory, installed } = await readProject(cwd);
  const { configuration, withheld } = readUntrustedNpmConfiguration({ projectDirectory, env: process.env });
  const mode = offline ? "offline" : refresh ? "refresh" : "normal";
  const client = createRegistryClient(configuration, { mode, timeoutMs, signal });
  const searches = client.registries.map((registry) => new RegistrySearch(client, registry));
  const wanted = text.trim();
  const found = await Promise.all(searches.map((search) => search.find(wanted, installed)));
  const isAnswered = found.some((packs) => packs !== undefined);
  const failures = searches.flatMap(({ registry, failure: failed }) => {
    const lines = withheldLines(withheld, registry);
    const unsigned =
      lines.length > 0 ? "was read without the credentials in the project's .npmrc" : undefined;
    const reason = failed ?? unsigned;
    return reason === undefined ? [] : [{ registry: client.show(registry), reason, withheld: lines }];
  });
  const [first] = failures;
  if (!isAnswered && first !== undefined) throw failure("RegistryUnavailable", first);
  const packs = found.flatMap((ofRegistry) => ofRegistry ?? []);
  if (wanted === "") packs.sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    packs,
    total: packs.length,
    source: searches.some(({ reachedNetwork }) => reachedNetwork) ? "network" : "cache",
    problems: failures.map((args) => createProblem("RegistryUnavailable", { ...args, answered: true })),
  };
}
