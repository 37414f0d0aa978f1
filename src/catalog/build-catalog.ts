import { type KindKey, keyOfKind, kinds } from "../kinds.ts";
import { replaceUnprintable } from "../problems/hidden-characters.ts";
import type { Problem } from "../problems/index.ts";
import { hostVersion } from "../version.ts";
import { type Catalog, type CatalogPack, collectCatalog } from "./collect.ts";
import { readHttps, readRepository } from "./html.ts";
import { formatCatalog } from "./page.ts";
import type { SiteFile } from "./write-site.ts";

/** A catalog as texts of files. The same installation gives the same bytes. */
export interface BuiltCatalog {
  files: Record<SiteFile, string>;
  packs: number;
  problems: Problem[];
}

/** A problem as data: without arguments, which may have absolute paths. */
const describeProblem = ({ args: _, ...problem }: Problem) => problem;

const textOf = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);

const addressOf = (id: string) => `index.html#${id}`;

function describePack(pack: CatalogPack) {
  const { described, id, location, items, problems, lock } = pack;
  const { name, qualifiedName, version, description, origin, shadowed, needs, enabled } = described.pack;
  const { repository, homepage } = described.manifest.value;
  const describeItems = (key: KindKey) =>
    items
      .filter(({ item }) => keyOfKind[item.declaration.kind] === key)
      .map(({ item, id: itemId, lock: state }) => ({
        name: item.declaration.name,
        qualifiedName: item.qualifiedName,
        advertisedName: textOf(item.definition?.name),
        title: textOf(item.definition?.title),
        description: textOf(item.definition?.description) ?? item.declaration.description,
        page: addressOf(itemId),
        lock: state,
      }));
  return {
    name,
    qualifiedName,
    version,
    description,
    page: addressOf(id),
    location,
    origin,
    shadowed,
    enabled: enabled !== false,
    repository: readRepository(repository) ?? null,
    homepage: readHttps(homepage) ?? null,
    needs: needs ?? null,
    lock: lock ?? null,
    ...Object.fromEntries(kinds.map((kind) => [keyOfKind[kind], describeItems(keyOfKind[kind])])),
    problems: problems.map(describeProblem),
  };
}

function describeCatalog({ packs, problems }: Catalog, title: string) {
  return {
    catalogVersion: 1,
    title,
    generator: `trailblaze ${hostVersion}`,
    packs: packs.map(describePack),
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
  const files = {
    "catalog.json": formatData(describeCatalog(catalog, title)),
    "index.html": formatCatalog(catalog, title),
  };
  const problems = [...catalog.problems, ...catalog.packs.flatMap((pack) => pack.problems)];
  return { files, packs: catalog.packs.length, problems };
}
