import { printable } from "../problems/index.ts";
import type { CatalogPack, Offer } from "./collect.ts";
import { type Content, html, trusted } from "./html.ts";
import { countOf, indexFile } from "./layout.ts";
import { addressFrom } from "./page-paths.ts";
import { formatTable } from "./schema-table.ts";

const width = 960;
const rowHeight = 30;
const top = 34;
const left = 330;
const right = 630;

const longestName = 44;

/** The text of a name, cut in its middle to fit beside the drawing. SVG cannot mark characters as HTML does. */
function drawName(written: string): Content {
  const name = [...printable(written)];
  const shown =
    name.length > longestName ? [...name.slice(0, 21), "…", ...name.slice(-22)].join("") : name.join("");
  return html`<title>${name.join("")}</title>${shown}`;
}

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
export function drawOffers(unordered: readonly Offer[]): Content {
  if (unordered.length === 0) return undefined;
  const offers = orderOffers(unordered);
  const packs = orderPacks(offers);
  const rowOf = new Map(packs.map((pack, row) => [pack, row]));
  const inner = Math.max(offers.length, packs.length) * rowHeight;
  const height = top + inner + 12;
  const atServer = placeRows(offers.length, inner);
  const atPack = placeRows(packs.length, inner);
  const line = (from: number, to: number, count: number | undefined) =>
    html`<path${count === undefined && trusted(' class="unknown"')} stroke-width="${thickness(count)}" d="M${left + 10} ${from}C${left + 150} ${from} ${right - 150} ${to} ${right - 10} ${to}"/>`;
  const servers = offers.map((offer, row) => {
    const y = atServer(row);
    const page = pageOf(offer);
    const total = [...offer.counts.values()].reduce<number | undefined>(
      (sum, count) => (sum === undefined || count === undefined ? undefined : sum + count),
      0,
    );
    const label = html`<text x="${left - 10}" y="${y + 4}" text-anchor="end">${drawName(offer.name)}</text>`;
    return html`<g>${page === undefined ? label : html`<a href="${page}">${label}</a>`}<circle cx="${left}" cy="${y}" r="4"/><text class="count" x="${left + 12}" y="${y - 5}">${total ?? "?"}</text>${[
      ...offer.counts,
    ].map(([pack, count]) => line(y, atPack(rowOf.get(pack) ?? 0), count))}</g>`;
  });
  const labels = packs.map((pack, row) => {
    const y = atPack(row);
    const { name } = pack.found.pack;
    return html`<a href="${addressFrom(indexFile, pack.page)}"><text x="${right + 10}" y="${y + 4}">${drawName(name)}</text></a><circle cx="${right}" cy="${y}" r="4"/>`;
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
  return html`<div class="drawing" tabindex="0" role="region" aria-label="Drawing of servers and packs">
<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="group" aria-label="Lines from ${countOf(offers.length, "server")} to ${countOf(packs.length, "pack")}">
<text class="column" x="${left - 10}" y="20" text-anchor="end">SERVER</text><text class="column" x="${right + 10}" y="20">PACK</text>
${servers}${labels}</svg></div>
<details><summary>The same as a table</summary>${formatTable("", ["Server", "Pack", "Tools"], rows)}</details>`;
}
