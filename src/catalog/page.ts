import { createHash } from "node:crypto";
import { isRecord } from "../data/parse-json.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { kinds } from "../kinds.ts";
import { type Cell, createNeedsTable, formatValue, type Part, titleOfKind } from "../pages/page.ts";
import { fileOfPosition, printable, printableLines } from "../problems/index.ts";
import { countOf, shorten } from "../problems/text.ts";
import { hostVersion } from "../version.ts";
import { script, style } from "./assets.ts";
import type { Catalog, CatalogItem, CatalogPack, CatalogProblem, LockState } from "./catalog.ts";

/** Markup whose texts are escaped. Only `html` and `trusted` create it. */
class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

type Content = Html | string | number | false | undefined | readonly Content[];

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;" };

/** Markup of this program's own; never with a text of a pack. */
const trusted = (markup: string): Html => new Html(markup);

/** Of a text, invisible and bidirectional characters appear as `\u{…}`. */
function render(content: Content): string {
  if (content === undefined || content === false) return "";
  if (content instanceof Html) return content.markup;
  if (Array.isArray(content)) return content.map(render).join("");
  return printableLines(String(content)).replace(/[&<>"]/g, (character) => entities[character] ?? character);
}

/** Markup from a template. Its values are escaped unless they are `Html`; those of attributes stand in double quotes. */
const html = (parts: TemplateStringsArray, ...values: readonly Content[]): Html =>
  new Html(parts.map((part, index) => part + render(values[index])).join(""));

/** Limit on the bytes of all items, so that the page stays below 25 MB. Later ones are shown without their definitions. */
const largestItems = 16 << 20;

/** In bytes, as printed. */
const longestDefinition = 64 << 10;

/** In characters. */
const longestCell = 1024;
const shortDescription = 280;

const code = (text: string): Html => html`<code><bdi>${shorten(text, 400)}</bdi></code>`;

const paragraph = (text: string): Content => text !== "" && html`<p class="text">${shorten(text)}</p>`;

/** A link to another site. Only https addresses come here. */
const linkTo = (address: string, label = address): Html =>
  html`<a href="${address}" rel="noreferrer noopener">${label}</a>`;

type Badge = string | false | undefined;

const formatBadges = (badges: readonly Badge[]): Content =>
  badges.some(Boolean) &&
  html`<ul class="badges">${badges.map((badge) => badge && html`<li class="badge">${badge}</li>`)}</ul>`;

const lockBadges: Readonly<Record<LockState, string>> = {
  approved: "Approved",
  changed: "Changed since approval",
  notApproved: "Not approved",
  notLocked: "Not locked",
};

const problemBadges = (problems: readonly CatalogProblem[]): Badge[] =>
  (["error", "warning"] as const).map((severity) => {
    const count = problems.filter((problem) => problem.severity === severity).length;
    return count > 0 && countOf(count, severity);
  });

const stateOf = (problems: readonly CatalogProblem[]) =>
  problems.some(({ severity }) => severity !== "info") ? "1" : "";

/** A list of problems, each with a link to its entry in the published package. */
function formatProblems(problems: readonly CatalogProblem[]): Content {
  const formatProblem = (problem: CatalogProblem) => {
    const { code: name, severity, message, hint = "", line, column } = problem;
    const place = [fileOfPosition(problem), line, column].filter((part) => part !== undefined).join(":");
    const address = `https://unpkg.com/trailblaze@${hostVersion}/docs/problems.md#${name.toLowerCase()}`;
    return html`<li class="problem"><p><strong>${severity}</strong> ${linkTo(address, name)}</p>${paragraph(message)}${paragraph(hint)}<p class="soft"><bdi>${shorten(place, 400)}</bdi></p></li>`;
  };
  return problems.length > 0 && html`<ul>${problems.map(formatProblem)}</ul>`;
}

const formatCell = (cell: Cell): Content =>
  typeof cell === "string" ? shorten(cell, longestCell) : code(cell.code);

function formatPart(part: Part): Content {
  if (typeof part === "string") return paragraph(part);
  const heading = part.columns.map((column) => html`<th scope="col">${column}</th>`);
  const rows = part.rows.map(
    (row) => html`<tr>${row.map((cell) => html`<td>${formatCell(cell)}</td>`)}</tr>`,
  );
  return rows.length > 0 && html`<table><thead><tr>${heading}</tr></thead><tbody>${rows}</tbody></table>`;
}

const formatFacts = (facts: readonly (readonly [string, Content])[]): Content =>
  facts.length > 0 &&
  html`<dl class="facts">${facts.map(([name, value]) => value && html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;

/** A definition as JSON that can be opened, cut after 64 KiB. */
function formatDefinition(definition: object, { file }: InspectedItem): Html {
  const bytes = Buffer.from(JSON.stringify(definition, null, 2));
  // A character that is cut in half is left out.
  const shown = bytes
    .subarray(0, longestDefinition)
    .toString()
    .replace(/\uFFFD$/, "");
  return html`<details><summary>Definition <bdi>${file ?? ""}</bdi></summary><pre tabindex="0"><bdi>${shown}</bdi></pre>${
    bytes.length > longestDefinition &&
    html`<p class="soft">Cut after 64 KiB of ${Math.ceil(bytes.length / 1024)} KiB.</p>`
  }</details>`;
}

const isAbout = ({ declaration }: InspectedItem, problem: CatalogProblem) =>
  problem.kind === declaration.kind && problem.item === declaration.name;

function formatItem(item: CatalogItem, { data }: CatalogPack, isFull: boolean): Html {
  const { id, page, definition, format = "json", declaration } = item;
  const { name, title, description } = page;
  const { kind } = declaration;
  const problems = data.problems.filter((problem) => isAbout(item, problem));
  const badges = formatBadges([
    !["json", "yaml", "yml"].includes(format) && "Defined in code",
    definition === null && "No valid definition",
    ...problemBadges(problems),
  ]);
  // Of variables only the names: their values may be secret.
  const withoutValues = (key: string, value: unknown) =>
    kind === "server" && (key === "env" || key === "headers") && isRecord(value) ? Object.keys(value) : value;
  const entries = Object.entries(definition ?? {}).map(([key, value]) => [key, withoutValues(key, value)]);
  const formatDetails = () => [
    formatFacts(page.facts.map(([key, value]) => [key, code(formatValue(withoutValues(key, value)))])),
    page.parts.map(formatPart),
    formatDefinition(Object.fromEntries(entries), item),
  ];
  return html`<article class="item" id="${id}" data-kind="${kind}" data-problems="${stateOf(problems)}">
<header><h3><a href="#${id}"><bdi>${name}</bdi></a></h3><p class="soft">${kind} · ${title !== "" && html`<bdi>${title.slice(0, 200)}</bdi> · `}<bdi>${item.qualifiedName}</bdi></p>${badges}${paragraph(isFull ? description : shorten(description, shortDescription))}</header>
${formatProblems(problems)}${isFull && definition !== null && formatDetails()}</article>`;
}

const packBadges = ({ data: { shadowed, enabled, lock, problems } }: CatalogPack) => [
  (shadowed || enabled === false) && "Not used by sessions",
  lock !== null && lockBadges[lock],
  ...problemBadges(problems),
];

const countKinds = (packs: readonly CatalogPack[]) =>
  kinds.flatMap((kind) => {
    const items = packs.flatMap((pack) => pack.items).filter(({ declaration }) => declaration.kind === kind);
    return items.length === 0 ? [] : [{ kind, count: countOf(items.length, kind) }];
  });

const versionOf = ({ data: { version } }: CatalogPack): Html =>
  html`<bdi class="soft">${shorten(version ?? "", 60)}</bdi>`;

function formatCard(pack: CatalogPack): Html {
  const { id, data } = pack;
  const { name, description } = data;
  const counts = countKinds([pack]).map(({ count }) => count);
  return html`<article class="card"><h3><a href="#${id}"><bdi>${name}</bdi></a> ${versionOf(pack)}</h3>
${paragraph(shorten(description ?? "", shortDescription))}${formatBadges([...counts, ...packBadges(pack)])}</article>`;
}

function formatPacks(packs: readonly CatalogPack[]): Content {
  let size = 0;
  const formatPack = (pack: CatalogPack): Html => {
    const { id, items, data } = pack;
    const { name, description, origin, needs, location, repository, homepage, problems } = data;
    const about = formatFacts([
      ["Comes from", html`${origin}, in ${code(location)}`],
      ["Repository", repository !== null && linkTo(repository)],
      ["Homepage", homepage !== null && linkTo(homepage)],
    ]);
    const sections = items.map((item) => {
      const section = formatItem(item, pack, size < largestItems);
      size += Buffer.byteLength(section.markup);
      return section;
    });
    const others = problems.filter((problem) => !items.some((item) => isAbout(item, problem)));
    return html`<section class="pack" id="${id}" data-problems="${stateOf(problems)}"><div><h2><bdi>${name}</bdi> ${versionOf(pack)}</h2>${paragraph(description ?? "")}${formatBadges(packBadges(pack))}
${about}${formatPart(createNeedsTable(needs))}</div>
${formatProblems(others)}${sections.length === 0 ? html`<p class="soft">This pack declares no items.</p>` : sections}</section>`;
  };
  return [
    packs.map(formatPack),
    size >= largestItems &&
      html`<p class="soft">The page is too large, so the definitions of the last items are not shown. Run <code>trailblaze inspect NAME --json</code> to see them.</p>`,
  ];
}

function formatCards(packs: readonly CatalogPack[]): Html {
  const chip = (words: string, data: Html) =>
    html`<button type="button" aria-pressed="false" ${data}>${words}</button>`;
  const chips = countKinds(packs).map(({ kind }) => chip(titleOfKind(kind), html`data-kind="${kind}"`));
  return html`<div class="finder" id="finder" role="search" hidden>
<label for="search">Search packs and their items</label>
<p class="soft" id="status" role="status"></p>
<input id="search" type="search" autocomplete="off" spellcheck="false">
<div role="group" aria-label="Filters">${chips}${chip("With problems", html`data-problems="1"`)}</div>
</div>
<h2>Packs</h2><div class="cards">${packs.map(formatCard)}</div>
<p id="nothing" hidden>Nothing matches. Try fewer words, or clear the filters.</p>`;
}

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Nothing is loaded, and only the script and the style of this program apply. */
const policy = `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(script)}; base-uri 'none'; form-action 'none'`;

export function formatCatalog({ title, packs, servers, problems }: Catalog): string {
  const rows = servers.map(({ name, runs }) => [name, { code: runs }]);
  const summary = [countOf(packs.length, "pack"), ...countKinds(packs).map(({ count }) => count)].join(" · ");
  const content =
    packs.length === 0
      ? html`<p>No packs are installed in this project. Run <code>trailblaze search</code> to find packs, and <code>trailblaze add PACK</code> to install one.</p>`
      : html`${formatCards(packs)}${formatPacks(packs)}`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${printable(title)}</title>
<style>${trusted(style)}</style>
</head>
<body>
<main>
<h1>${title}</h1><p class="soft">${summary}</p>
${content}
${rows.length > 0 && html`<h2>Servers of the project</h2>${formatPart({ columns: ["Name", "Runs"], rows })}`}
${problems.length > 0 && html`<h2>Problems of the project</h2>${formatProblems(problems)}`}
</main>
<footer class="soft">Made by Trailblaze ${hostVersion} from installed packages. Its packs as data: <a href="catalog.json">catalog.json</a></footer>
<script>${trusted(script)}</script>
</body>
</html>
`.markup;
}
