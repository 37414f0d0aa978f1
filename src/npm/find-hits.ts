import { isRecord } from "../data/parse-json.ts";
import { isPackageName } from "../qualified-names/index.ts";
import type { RegistryReader } from "./registry-reader.ts";
import { hasPackKeyword } from "./remote-pack.ts";

/** A package that a search found; `hasKeyword` is undefined where the hit does not tell. */
export interface Hit {
  name: string;
  hasKeyword: boolean | undefined;
}

export interface SearchLimits {
  /** npm's registry gives no more than 250 at once. */
  pageSize: number;
  /** npm's registry refuses about the eleventh. */
  pages: number;
}

export const defaultSearchLimits: SearchLimits = { pageSize: 250, pages: 10 };

const maximumPageBytes = 8 << 20;

/** Whether a document is a page of hits. */
const isPage = ({ objects }: Readonly<Record<string, unknown>>) => Array.isArray(objects);

function readHit(object: unknown): Hit | undefined {
  const found = isRecord(object) ? object.package : undefined;
  if (!isRecord(found) || typeof found.name !== "string" || !isPackageName(found.name)) return undefined;
  return { name: found.name, hasKeyword: hasPackKeyword(found.keywords) };
}

/**
 * Asks a registry's search, page by page, until there is nothing new. `failed` tells why there is no first page; what
 * a later page lacks is noted by the reader. Faults of an optional search are nobody's concern.
 */
export async function findHits(
  reader: RegistryReader,
  registry: string,
  text: string,
  { pageSize, pages }: SearchLimits,
  isOptional: boolean,
): Promise<{ hits: Hit[]; failed?: string }> {
  const hits = new Map<string, Hit>();
  for (let page = 0, from = 0; page < pages; page++) {
    const query = new URLSearchParams({ text, size: String(pageSize), from: String(from) });
    const path = `-/v1/search?${query}`;
    const read = await reader.read(registry, path, maximumPageBytes, { isOptional, isExpected: isPage });
    if (read.state !== "read") {
      if (page > 0) break;
      return { hits: [], failed: read.state === "failed" ? read.reason : "has no search" };
    }
    const objects = read.value.objects as readonly unknown[];
    const before = hits.size;
    for (const object of objects) {
      const hit = readHit(object);
      if (hit !== undefined && !hits.has(hit.name)) hits.set(hit.name, hit);
    }
    from += objects.length;
    const { total } = read.value;
    // A registry may give fewer than it is asked for, and repeats hits where it has no more.
    const mayHaveMore = objects.length >= pageSize || (typeof total === "number" && from < total);
    if (hits.size === before || !mayHaveMore) break;
  }
  return { hits: [...hits.values()] };
}
