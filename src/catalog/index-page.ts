import { type Kind, kinds } from "../kinds.ts";
import { printable, shorten } from "../problems/index.ts";
import { formatCount } from "../problems/text.ts";
import type { Catalog, CatalogPack } from "./collect.ts";
import type { ConfigServer } from "./config-servers.ts";
import { type Content, type Html, html, jsonForScript } from "./html.ts";
import {
  badge,
  badges,
  countOf,
  formatFinder,
  formatPage,
  formatProblems,
  indexFile,
  lockBadge,
  noMatch,
  problemBadges,
} from "./layout.ts";
import { addressFrom } from "./page-paths.ts";
import { code, formatTable } from "./schema-table.ts";
import { textOf } from "./values.ts";

/** Aim for the bytes of the page. What search knows of items becomes less, so that the page stays below. */
const largestIndex = 1 << 20;

/** Limits on the characters of an item's description in search, tried in order. */
const descriptionLengths = [160, 80, 40, 0];

const countKinds = (packs: readonly CatalogPack[]) =>
  kinds
    .map((kind) => {
      const count = packs
        .flatMap(({ items }) => items)
        .filter(({ item }) => item.declaration.kind === kind).length;
      return { kind, count };
    })
    .filter(({ count }) => count > 0);

/** Why sessions do not use a pack, as a badge. */
const useBadge = ({ enabled, found: { pack } }: CatalogPack): Html | false =>
  pack.shadowed ? badge("Shadowed by another copy", "warning") : !enabled && badge("Not used by sessions");

export const packBadges = (pack: CatalogPack): Content =>
  badges([
    ...countKinds([pack]).map(({ kind, count }) => badge(countOf(count, kind), "accent")),
    useBadge(pack),
    pack.lock !== undefined && lockBadge(pack.lock.state),
    ...problemBadges(pack.problems),
  ]);

function formatCard(pack: CatalogPack): Html {
  const { name, version, description } = pack.found.pack;
  const own = countKinds([pack]).map(({ kind }) => kind);
  const hasProblems = pack.problems.some(({ severity }) => severity !== "info");
  return html`<article class="card" data-entry data-kinds="${own.join(" ")}" data-problems="${hasProblems ? "1" : ""}">
<h3><a href="${addressFrom(indexFile, pack.page)}"><bdi>${name}</bdi></a> ${version !== null && html`<bdi class="version">${shorten(version, 60)}</bdi>`}</h3>
${description !== null && html`<p class="text">${shorten(description, 280)}</p>`}${packBadges(pack)}</article>`;
}

/** An item as search knows it: index of its kind, name, ID if it is not kind and name, description. */
type SearchEntry = [number, string, string?, string?];

function listEntries(packs: readonly CatalogPack[], length: number): SearchEntry[][] {
  return packs.map(({ items }) =>
    items.map(({ item, id }): SearchEntry => {
      const { kind, name } = item.declaration;
      const shown = printable(textOf(item.definition?.name) || name).slice(0, 100);
      const description = textOf(item.definition?.description) || (item.declaration.description ?? "");
      const text = [shown === name ? "" : name, description.slice(0, length)].join(" ").trim();
      const ownId = id === `${kind}-${shown}` ? "" : id;
      const entry: SearchEntry = [kinds.indexOf(kind), shown];
      if (ownId !== "" || text !== "") entry.push(ownId);
      if (text !== "") entry.push(printable(text));
      return entry;
    }),
  );
}

/** What search knows of items, in at most this many bytes; at worst nothing, and then only packs are found. */
function createSearchData(packs: readonly CatalogPack[], bytes: number): Html | undefined {
  for (const length of descriptionLengths) {
    const data = jsonForScript(listEntries(packs, length));
    if (Buffer.byteLength(data.markup) <= bytes) return data;
  }
  return undefined;
}

const emptyCatalog = html`<div class="empty"><p>No packs are installed in this project.</p><p>Run <code>trailblaze search</code> to find packs, and <code>trailblaze add PACK</code> to install one.</p></div>`;

const typeWords: Readonly<Record<ConfigServer["type"], string>> = {
  composed: "Composed of packs' items",
  program: "Program",
  remote: "Remote server",
  excluded: "Not used by sessions",
};

function formatConfigServers(servers: readonly ConfigServer[]): Content {
  if (servers.length === 0) return undefined;
  const rows = servers.map(({ name, type, runs, names, lock }) => [
    html`<bdi>${name}</bdi>${badges([lockBadge(lock)])}`,
    html`${typeWords[type]}${runs !== "" && html` ${code(runs)}`}`,
    html`<span class="names">${names.map((one) => code(one))}</span>`,
  ]);
  return html`<section aria-labelledby="config"><h2 id="config">Servers of the project</h2>
<p class="soft small">From the project's configuration. Arguments and values are not shown.</p>${formatTable(
    "",
    ["Name", "Runs", "Variables and headers"],
    rows,
  )}</section>`;
}

/** The page of all packs. */
export function formatIndex(catalog: Catalog, title: string): string {
  const { packs, servers, problems } = catalog;
  const counts = countKinds(packs);
  const summary = [
    countOf(packs.length, "pack"),
    ...counts.map(({ kind, count }) => countOf(count, kind)),
  ].join(" · ");
  const own: readonly Kind[] = counts.map(({ kind }) => kind);
  const hasProblems = packs.some(({ problems: all }) => all.some(({ severity }) => severity !== "info"));
  const build = (data: Html | undefined, note: Content) =>
    formatPage({
      file: indexFile,
      title,
      crumbs: html`<span class="soft">Trailblaze catalog</span>`,
      body: html`<div class="intro"><h1>${title}</h1><p class="text">${summary}</p></div>
${formatFinderOf(packs, own, hasProblems)}
<section aria-labelledby="packs"><h2 class="visually-hidden" id="packs">Packs</h2>
${packs.length === 0 ? emptyCatalog : html`<div class="packs${packs.length > 200 && " many"}">${packs.map(formatCard)}</div>${noMatch}`}${note}</section>
${formatConfigServers(servers)}
${problems.length > 0 && html`<section aria-labelledby="problems"><h2 id="problems">Problems of the project</h2><p class="soft small">They belong to no pack.</p>${formatProblems(problems)}</section>`}
${data !== undefined && html`<script type="application/json" id="data">${data}</script>`}`,
    });
  const plain = build(undefined, undefined);
  if (packs.length === 0) return plain;
  const budget = Math.max(1 << 16, largestIndex - Buffer.byteLength(plain) - 4096);
  const data = createSearchData(packs, budget);
  const items = counts.reduce((sum, { count }) => sum + count, 0);
  return build(
    data,
    data === undefined &&
      html`<p class="note">Search finds packs here. The ${formatCount(items)} items are too many for one page; search them on the pages of their packs.</p>`,
  );
}

const formatFinderOf = (packs: readonly CatalogPack[], own: readonly Kind[], hasProblems: boolean): Content =>
  packs.length > 0 &&
  formatFinder({
    label: "Search packs and their items",
    noun: "pack|packs",
    kinds: own,
    hasProblems,
    allKinds: kinds,
  });
