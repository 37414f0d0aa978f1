import { printable } from "../problems/index.ts";
import type { CatalogPack, Offer } from "./collect.ts";
import { type Content, html, trusted } from "./html.ts";
import { countOf, indexFile } from "./layout.ts";
import { addressFrom } from "./page-paths.ts";
import { formatTable } from "./schema-table.ts";

const rowHeight = 30;
const top = 34;
const left = 0;
const right = 280;

const longestName = 44;

/** More servers are neither drawn nor in the table: a hostile pack could have thousands. */
const mostServers = 250;

/** An upper estimate for the width of a character in pixels: fonts are not known here. */
const characterWidth = 7.6;

/** A name, cut in its middle to fit beside the drawing. */
function cutName(written: string): readonly string[] {
  const name = [...printable(written)];
  return name.length > longestName ? [...name.slice(0, 21), "…", ...name.slice(-22)] : name;
}

/** The text of a name. SVG cannot mark characters as HTML does. */
const drawName = (written: string): Content =>
  html`<title>${printable(written)}</title>${cutName(written).join("")}`;

/** The pixels that the longest of some names takes. */
const widthOf = (names: readonly string[]): number =>
  Math.ceil(names.reduce((most, name) => Math.max(most, cutName(name).length), 8) * characterWidth);

/** Servers of one pack's tools first, then those of several packs' and those without any, so that few lines cross. */
function orderOffers(offers: readonly Offer[]): Offer[] {
  const rank = ({ counts }: Offer) => (counts.size === 0 ? 2 : counts.size === 1 ? 0 : 1);
  return offers.toSorted((one, other) => rank(one) - rank(other));
}

/** The packs in the order of the first server that offers their tools. */
const orderPacks = (offers: readonly Offer[]): CatalogPack[] => [
  ...new Set(offers.flatMap(({ counts }) => [...counts.keys()])),
];

/** Where the rows of a column are: spread over the height, so that lines rise and fall little. */
const placeRows = (count: number, height: number) => (row: number) =>
  Math.round(top + ((row + 0.5) * height) / count);

const pageOf = (offer: Offer) =>
  offer.owner === undefined ? undefined : addressFrom(indexFile, offer.owner.page, offer.id);

const thickness = (count: number | undefined) =>
  count === undefined ? 1.25 : Math.min(7, 1.25 + Math.sqrt(count)).toFixed(2);

/**
 * Draws which servers offer the tools of which packs: a row for each server and each pack, and a line for each pair, thicker
 * for more tools. Nothing without servers.
 */
export function drawOffers(all: readonly Offer[]): Content {
  if (all.length === 0) return undefined;
  const offers = orderOffers(all).slice(0, mostServers);
  const rest = all.length - offers.length;
  const packs = orderPacks(offers);
  const rowOf = new Map(packs.map((pack, row) => [pack, row]));
  const inner = Math.max(offers.length, packs.length) * rowHeight;
  const height = top + inner + 12;
  const atServer = placeRows(offers.length, inner);
  const atPack = placeRows(packs.length, inner);
  const line = (from: number, to: number, count: number | undefined) =>
    html`<path${count === undefined && trusted(' class="unknown"')} stroke-width="${thickness(count)}" d="M${left + 9} ${from}C${left + 140} ${from} ${right - 140} ${to} ${right - 9} ${to}"/>`;
  const servers = offers.map((offer, row) => {
    const y = atServer(row);
    const page = pageOf(offer);
    const total = [...offer.counts.values()].reduce<number | undefined>(
      (sum, count) => (sum === undefined || count === undefined ? undefined : sum + count),
      0,
    );
    const label = html`<text x="${left - 58}" y="${y + 4}" text-anchor="end">${drawName(offer.name)}</text>`;
    return html`<g>${page === undefined ? label : html`<a href="${page}">${label}</a>`}<circle cx="${left}" cy="${y}" r="4"/><text class="count" x="${left - 12}" y="${y + 4}" text-anchor="end">${total ?? "?"}</text>${[
      ...offer.counts,
    ].map(([pack, count]) => line(y, atPack(rowOf.get(pack) ?? 0), count))}</g>`;
  });
  const labels = packs.map((pack, row) => {
    const y = atPack(row);
    const { name } = pack.found.pack;
    return html`<a href="${addressFrom(indexFile, pack.page)}"><text x="${right + 12}" y="${y + 4}">${drawName(name)}</text></a><circle cx="${right}" cy="${y}" r="4"/>`;
  });
  const rows = offers.flatMap((offer) =>
    offer.counts.size === 0
      ? [[html`<bdi>${offer.name}</bdi>`, "—", "none"]]
      : [...offer.counts].map(([pack, count]) => [
          html`<bdi>${offer.name}</bdi>`,
          html`<bdi>${pack.found.pack.name}</bdi>`,
          count === undefined ? "known when it runs" : String(count),
        ]),
  );
  const start = left - 58 - widthOf(offers.map(({ name }) => name));
  const width = right + 12 + widthOf(packs.map(({ found }) => found.pack.name)) - start;
  return html`<div class="drawing" tabindex="0" role="region" aria-label="Drawing of servers and packs">
<svg viewBox="${start} 0 ${width} ${height}" width="${width}" height="${height}" role="group" aria-label="Lines from ${countOf(offers.length, "server")} to ${countOf(packs.length, "pack")}">
<text class="column" x="${left - 58}" y="20" text-anchor="end">Server</text><text class="column" x="${left - 12}" y="20" text-anchor="end">Tools</text><text class="column" x="${right + 12}" y="20">Pack</text>
${servers}${labels}</svg></div>
<details><summary>The same as a table</summary>${formatTable("", ["Server", "Pack", "Tools"], rows)}</details>${
    rest > 0 &&
    html`<p class="note">${countOf(rest, "more server")}, which <a href="catalog.json">catalog.json</a> lists.</p>`
  }`;
}
