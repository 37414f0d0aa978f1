import { type Kind, kinds } from "../kinds.ts";
import { shorten } from "../problems/index.ts";
import type { Catalog, CatalogPack } from "./collect.ts";
import type { ConfigServer } from "./config-servers.ts";
import { type Content, type Html, html } from "./html.ts";
import {
  badge,
  badges,
  countOf,
  formatPage,
  formatProblems,
  hasProblems,
  kindTitles,
  lockBadge,
} from "./layout.ts";
import { formatPackSections, stateBadges } from "./pack-section.ts";
import { code, formatTable } from "./schema-table.ts";

const countKinds = (packs: readonly CatalogPack[]) =>
  kinds
    .map((kind) => {
      const count = packs
        .flatMap(({ items }) => items)
        .filter(({ item }) => item.declaration.kind === kind).length;
      return { kind, count };
    })
    .filter(({ count }) => count > 0);

function formatCard(pack: CatalogPack): Html {
  const { name, version, description } = pack.found.pack;
  return html`<article class="card"><h3><a href="#${pack.id}"><bdi>${name}</bdi></a> ${version !== null && html`<bdi class="version">${shorten(version, 60)}</bdi>`}</h3>
${description !== null && html`<p class="text">${shorten(description, 280)}</p>`}${badges([
  ...countKinds([pack]).map(({ kind, count }) => badge(countOf(count, kind), "accent")),
  ...stateBadges(pack),
])}</article>`;
}

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

/** The field, the filters and the message of the search. */
function formatFinder(packs: readonly CatalogPack[], shown: readonly Kind[]): Html {
  const chip = (words: string, data: Html) =>
    html`<button class="chip" type="button" aria-pressed="false" ${data}>${words}</button>`;
  return html`<div class="finder" id="finder" role="search" hidden>
<label for="search">Search packs and their items <kbd aria-hidden="true">/</kbd></label>
<p class="soft small" id="status" role="status"></p>
<input id="search" type="search" autocomplete="off" spellcheck="false" aria-keyshortcuts="/">
<div class="chips" role="group" aria-label="Filters">${
    shown.length > 1 && shown.map((kind) => chip(kindTitles[kind], html`data-kind="${kind}"`))
  }${packs.some(({ problems }) => hasProblems(problems)) && chip("With problems", html`data-problems="1"`)}<button class="button" id="reset" type="button">Clear</button></div>
</div>`;
}

const emptyCatalog = html`<div class="empty"><p>No packs are installed in this project.</p><p>Run <code>trailblaze search</code> to find packs, and <code>trailblaze add PACK</code> to install one.</p></div>`;

/** What a search shows that finds nothing. */
const noMatch = html`<div class="empty" id="nothing" data-for="search" hidden><p>Nothing matches.</p><p>Try fewer words, or clear the filters.</p></div>`;

/** The page: a card for each pack, then a section for each pack with its items. */
export function formatIndex(catalog: Catalog, title: string): string {
  const { packs, servers, problems } = catalog;
  const counts = countKinds(packs);
  const summary = [
    countOf(packs.length, "pack"),
    ...counts.map(({ kind, count }) => countOf(count, kind)),
  ].join(" · ");
  const shown = counts.map(({ kind }) => kind);
  return formatPage(
    title,
    html`<div class="intro"><h1>${title}</h1><p class="text">${summary}</p></div>
${
  packs.length === 0
    ? emptyCatalog
    : html`${formatFinder(packs, shown)}
<section aria-labelledby="packs"><h2 class="visually-hidden" id="packs">Packs</h2><div class="packs">${packs.map(formatCard)}</div>${noMatch}</section>
${formatPackSections(catalog)}`
}
${formatConfigServers(servers)}
${problems.length > 0 && html`<section aria-labelledby="problems"><h2 id="problems">Problems of the project</h2><p class="soft small">They belong to no pack.</p>${formatProblems(problems)}</section>`}`,
  );
}
