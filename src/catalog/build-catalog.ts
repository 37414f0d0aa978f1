import { type KindKey, keyOfKind, kinds } from "../kinds.ts";
import { replaceUnprintable } from "../problems/hidden-characters.ts";
import type { Problem } from "../problems/index.ts";
import { hostVersion } from "../version.ts";
import { type Catalog, type CatalogPack, collectCatalog } from "./collect.ts";
import { formatIndex } from "./index-page.ts";
import { indexFile } from "./layout.ts";
import { type FindItem, formatPackPage } from "./pack-page.ts";
import { addressFrom } from "./page-paths.ts";
import { textOf } from "./values.ts";

/** A catalog as files. The same installation gives the same bytes. */
export interface BuiltCatalog {
  /** Contents by path, relative to the catalog, with `/`. */
  files: Map<string, string>;
  packs: number;
  problems: Problem[];
}

/** Finds where items are shown. Names of shadowed packs mean the copy in use. */
function indexItems(packs: readonly CatalogPack[]): FindItem {
  const targets = new Map<string, { page: string; id: string }>();
  for (const { found, page, items } of packs) {
    if (found.pack.shadowed) continue;
    for (const { item, id } of items)
      targets.set(`${item.declaration.kind} ${item.qualifiedName}`, { page, id });
  }
  return (kind, qualifiedName, from) => {
    const target = targets.get(`${kind} ${qualifiedName}`);
    return target && addressFrom(from, target.page, target.id);
  };
}

/** A problem as data: without arguments, which may have absolute paths. */
const describeProblem = ({ args: _, ...problem }: Problem) => problem;

function describePack(pack: CatalogPack) {
  const { found, page, location, enabled, repository, homepage, items, problems, lock } = pack;
  const { name, qualifiedName, version, description, origin, shadowed, needs } = found.pack;
  const describeItems = (key: KindKey) =>
    items
      .filter(({ item }) => keyOfKind[item.declaration.kind] === key)
      .map(({ item, id, lock: state }) => ({
        name: item.declaration.name,
        qualifiedName: item.qualifiedName,
        advertisedName: textOf(item.definition?.name) || undefined,
        title: textOf(item.definition?.title) || undefined,
        description: textOf(item.definition?.description) || item.declaration.description,
        page: `${page}#${id}`,
        lock: state,
      }));
  return {
    ...{ name, qualifiedName, version, description, page, location, origin, shadowed, enabled },
    repository: repository ?? null,
    homepage: homepage ?? null,
    needs: needs ?? null,
    lock: lock?.state ?? null,
    ...Object.fromEntries(kinds.map((kind) => [keyOfKind[kind], describeItems(keyOfKind[kind])])),
    problems: problems.map(describeProblem),
  };
}

function describeCatalog({ packs, servers, problems }: Catalog, title: string) {
  return {
    catalogVersion: 1,
    title,
    generator: `trailblaze ${hostVersion}`,
    packs: packs.map(describePack),
    servers,
    problems: problems.map(describeProblem),
  };
}

/** JSON with every invisible and bidirectional character escaped. */
function formatData(data: unknown): string {
  const escapeUnits = (text: string) =>
    text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `${replaceUnprintable(JSON.stringify(data, null, 1), escapeUnits)}\n`;
}

/**
 * Makes the catalog of what is installed in a project. Trust level: inspection; no handler and no server runs. Texts of packs
 * are escaped. Throws `TrailblazeError`: as `collectCatalog`.
 */
export async function buildCatalog(
  options: Parameters<typeof collectCatalog>[0] & { title?: string | undefined },
): Promise<BuiltCatalog> {
  const catalog = await collectCatalog(options);
  const title = options.title ?? catalog.title;
  const findItem = indexItems(catalog.packs);
  const files = new Map<string, string>();
  for (const pack of catalog.packs) files.set(pack.page, formatPackPage(pack, catalog, title, findItem));
  files.set("catalog.json", formatData(describeCatalog(catalog, title)));
  files.set(indexFile, formatIndex(catalog, title));
  const problems = [...catalog.problems, ...catalog.packs.flatMap((pack) => pack.problems)];
  return { files, packs: catalog.packs.length, problems };
}
