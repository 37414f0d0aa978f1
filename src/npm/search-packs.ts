import { isRecord, textOrNull } from "../data/parse-json.ts";
import { findPacks } from "../discovery/find-packs.ts";
import type { DiscoveredItem } from "../discovery/types.ts";
import { type Needs, parseExtension } from "../extension-schema/parse-extension.ts";
import { discoveryPort } from "../files/node-discovery-port.ts";
import { readUntrustedNpmConfiguration, withheldLines } from "../files/npm-configuration.ts";
import { byKind, type KindKey } from "../kinds.ts";
import { createProblem, failure, type Problem, TrailblazeError } from "../problems/index.ts";
import { isPackageName, qualifyPackageName } from "../qualified-names/item-name.ts";
import { createRegistryClient, type RegistryClient } from "./registry/registry-client.ts";

/** A pack as a registry describes it. Its strings are untrusted. */
export type RemotePack = {
  /** The npm name. */
  name: string;
  qualifiedName: string;
  version: string | null;
  description: string | null;
  /** What its author says it needs; absent if that is not declared. */
  needs?: Needs;
} & Record<KindKey, RemoteItem[]> & {
    /** Whether any version of the package is installed in the project. */
    installed: boolean;
    /** Problems of the `trailblaze` field. */
    problems: Problem[];
  };

const packKeyword = "trailblaze-extension";

/** A declared item, with the additional keys of its declaration. */
export type RemoteItem = DiscoveredItem & Readonly<Record<string, unknown>>;

/** Whether keywords of a package.json or a search hit include ours; `undefined` if there are none. */
const hasPackKeyword = (keywords: unknown): boolean | undefined =>
  Array.isArray(keywords) ? keywords.includes(packKeyword) : undefined;

/** `undefined` if the manifest is of another package or not of a pack. */
export function describeRemotePack(
  name: string,
  manifest: Readonly<Record<string, unknown>>,
  installed: ReadonlySet<string>,
): RemotePack | undefined {
  if (manifest.name !== name || !Object.hasOwn(manifest, "trailblaze")) return undefined;
  const { extension, problems } = parseExtension(manifest.trailblaze);
  const qualifiedName = qualifyPackageName(name);
  const items = byKind((listed) =>
    extension[listed].map(({ name: item, description, extra }): RemoteItem => {
      return { name: item, qualifiedName: `${qualifiedName}/${item}`, description, ...extra };
    }),
  );
  return {
    name,
    qualifiedName,
    version: textOrNull(manifest.version),
    description: textOrNull(manifest.description),
    ...(extension.needs && { needs: extension.needs }),
    ...items,
    installed: installed.has(name),
    problems: problems.map((problem) => ({ ...problem, pack: name, file: "package.json" })),
  };
}

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

/**
 * Finds the packs of one registry by text; all without one. `packs` is `undefined` if it cannot be searched. `failed`: why a
 * document is from the cache, or missing; the first reason.
 */
async function searchRegistry(
  client: RegistryClient,
  registry: string,
  text: string,
  installed: ReadonlySet<string>,
) {
  let failed: string | undefined;
  let reachedNetwork = false;
  const note = (reason: string | undefined) => {
    if (reason === undefined) reachedNetwork = true;
    else failed ??= reason;
  };

  /** Whether each hit has the keyword, by its name; `undefined` if there is no first page. */
  async function findHits(
    words: string,
    isFallback = false,
  ): Promise<Map<string, boolean | undefined> | undefined> {
    const hits = new Map<string, boolean | undefined>();
    for (let page = 0, from = 0; page < maximumPages; page++) {
      const query = new URLSearchParams({ text: words, size: String(pageSize), from: String(from) });
      const read = await client.read(registry, `-/v1/search?${query}`);
      const objects: unknown = read.state === "read" ? read.value.objects : undefined;
      if (read.state !== "read" || !Array.isArray(objects)) {
        const what = read.state === "absent" ? "does not support searching" : "sent an unexpected response";
        // npm's registry refuses a short text without a keyword.
        if (!isFallback) note(read.state === "failed" ? read.reason : what);
        return page === 0 ? undefined : hits;
      }
      note(read.failure);
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
    return hits;
  }

  /** A pack has both the keyword and the field. */
  async function readHit(name: string): Promise<RemotePack[]> {
    const read = await client.readManifest(registry, name, "latest");
    if (read.state === "failed") note(read.reason);
    if (read.state !== "read") return [];
    note(read.failure);
    const pack = hasPackKeyword(read.value.keywords) && describeRemotePack(name, read.value, installed);
    return pack ? [pack] : [];
  }

  const hits = await findHits(`keywords:${packKeyword} ${text}`.trim());
  if (hits === undefined) return { packs: undefined, failed, reachedNetwork };
  // A registry that ignores keywords, or takes them for words, is searched by text, and the manifests are checked.
  const knowsKeywords = hits.size > 0 && [...hits.values()].every((hasKeyword) => hasKeyword === true);
  const others = text === "" ? [packKeyword, ""] : [text];
  for (const other of knowsKeywords ? [] : others)
    for (const [name, hasKeyword] of (await findHits(other, true)) ?? []) hits.set(name, hasKeyword);
  // Only hits from the registry that npm would use are trusted.
  const names = [...hits].flatMap(([name, hasKeyword]) =>
    hasKeyword !== false && client.registryOf(name) === registry ? [name] : [],
  );
  const packs: RemotePack[] = [];
  for (let from = 0; from < names.length; from += concurrency) {
    const some = names.slice(from, from + concurrency);
    packs.push(...(await Promise.all(some.map(readHit))).flat());
  }
  return { packs, failed, reachedNetwork };
}

export async function searchPacks(text: string, options: RemoteSearchOptions): Promise<RemoteSearch> {
  const { cwd = process.cwd(), refresh = false, offline = false, timeoutMs = 20_000, signal } = options;
  const found = await findPacks(discoveryPort, { cwd, policy: everything, all: true }).catch(
    (error: unknown) => {
      // A search works outside a project, too.
      if (!(error instanceof TrailblazeError)) throw error;
    },
  );
  const installed = new Set(found?.packs.map(({ pack }) => pack.name));
  // The root of a workspace has the .npmrc.
  const from = { projectDirectory: found?.workspace.root, env: process.env };
  const { configuration, withheld } = readUntrustedNpmConfiguration(from);
  const mode = offline ? "offline" : refresh ? "refresh" : "normal";
  const client = createRegistryClient(configuration, { mode, timeoutMs, signal });
  const wanted = text.trim();
  const searches = await Promise.all(
    client.registries.map((registry) => searchRegistry(client, registry, wanted, installed)),
  );
  const failures = client.registries.flatMap((registry, index) => {
    const lines = withheldLines(withheld, registry);
    const unsigned =
      lines.length > 0 ? "was read without the credentials in the project's .npmrc" : undefined;
    const reason = searches[index]?.failed ?? unsigned;
    return reason === undefined ? [] : [{ registry: client.show(registry), reason, withheld: lines }];
  });
  const [first] = failures;
  if (first !== undefined && searches.every((search) => search.packs === undefined))
    throw failure("RegistryUnavailable", first);
  const packs = searches.flatMap((search) => search.packs ?? []);
  if (wanted === "") packs.sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    packs,
    total: packs.length,
    source: searches.some(({ reachedNetwork }) => reachedNetwork) ? "network" : "cache",
    problems: failures.map((args) => createProblem("RegistryUnavailable", { ...args, answered: true })),
  };
}
