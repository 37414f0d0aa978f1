import { createHash } from "node:crypto";
import { isRecord } from "../data/parse-json.ts";
import { type Kind, kinds } from "../kinds.ts";
import {
  type Cell,
  createNeedsTable,
  createPageOfItem,
  formatValue,
  type Part,
  titlesOfKinds,
} from "../pages/page.ts";
import { fileOfPosition, type Problem, printable } from "../problems/index.ts";
import { formatCount, quoteForShell, shorten } from "../problems/text.ts";
import { hostVersion } from "../version.ts";
import type { Catalog, CatalogItem, CatalogPack, ConfigServer } from "./collect.ts";
import { type Content, type Html, html, linkTo, readHttps, readRepository, trusted } from "./html.ts";
import type { LockState } from "./lock-states.ts";
import { script } from "./script.ts";
import { style } from "./style.ts";

/** Limit on the bytes of all items, so that the page stays below 25 MB. Later ones are shown without their definitions. */
const largestItems = 16 << 20;

/** Limit on the bytes of a definition as printed. */
const longestDefinition = 64 << 10;

/** Limits on the characters of a cell, and of a description on a card or without a definition. */
const longestCell = 1024;
const shortDescription = 280;

/** Limit on the problems of one list: a hostile pack could have thousands. */
const mostProblems = 200;

/** Finds the ID of an item's element. */
type FindItem = (kind: Kind, qualifiedName: string | null) => string | undefined;

const countOf = (count: number, noun: string) => `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;

const code = (text: string): Html => html`<code><bdi>${shorten(text, 400)}</bdi></code>`;

const names = (list: readonly Content[]): Html => html`<span class="names">${list}</span>`;

/** A text with its line breaks. */
const paragraph = (text: string): Content => text !== "" && html`<p class="text">${shorten(text)}</p>`;

type Badge = readonly [words: string, tone?: "error" | "warning" | "good" | "accent"];

const formatBadges = (badges: readonly (Badge | false | undefined)[]): Content =>
  badges.some(Boolean) &&
  html`<ul class="badges">${badges.map((one) => one && html`<li class="${`badge ${one[1] ?? ""}`.trim()}">${one[0]}</li>`)}</ul>`;

const lockBadges: Readonly<Record<LockState, Badge>> = {
  approved: ["Approved", "good"],
  changed: ["Changed since approval", "warning"],
  notApproved: ["Not approved", "warning"],
  denied: ["Denied", "error"],
  notLocked: ["Not locked"],
};

/** Badges with the number of errors and warnings. */
const problemBadges = (problems: readonly Problem[]): Badge[] =>
  (["error", "warning"] as const).flatMap((severity): Badge[] => {
    const count = problems.filter((problem) => problem.severity === severity).length;
    return count === 0 ? [] : [[countOf(count, severity), severity]];
  });

/** Whether the filter by problems shows what has these. */
const stateOf = (problems: readonly Problem[]) =>
  problems.some(({ severity }) => severity !== "info") ? "1" : "";

/** A list of problems, each with a link to its entry in the published package. */
function formatProblems(problems: readonly Problem[]): Content {
  const formatProblem = (problem: Problem) => {
    const { code: name, severity, message, hint, line, column } = problem;
    const file = fileOfPosition(problem);
    const place = file && [file, line, column].filter((part) => part !== undefined).join(":");
    const address = `https://unpkg.com/trailblaze@${hostVersion}/docs/problems.md#${name.toLowerCase()}`;
    return html`<li class="problem ${severity}"><p><strong>${severity}</strong>${linkTo(address, name)}</p><p class="text">${shorten(message)}</p>${
      hint !== undefined && html`<p class="note text">${shorten(hint)}</p>`
    }${place !== undefined && html`<p class="note mono"><bdi>${shorten(place, 400)}</bdi></p>`}</li>`;
  };
  if (problems.length === 0) return undefined;
  const rest = problems.length - mostProblems;
  return html`<ul class="problems">${problems.slice(0, mostProblems).map(formatProblem)}</ul>${rest > 0 && html`<p class="note">${countOf(rest, "more problem")}.</p>`}`;
}

/** A definition list of the facts that are known. */
const formatFacts = (facts: readonly (readonly [string, Content])[]): Html =>
  html`<dl class="facts">${facts.map(([name, value]) => value && html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;

function formatTable(columns: readonly string[], rows: readonly (readonly Content[])[]): Content {
  const heading = columns.map((column) => html`<th scope="col">${column}</th>`);
  const body = rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`);
  return rows.length > 0 && html`<table><thead><tr>${heading}</tr></thead><tbody>${body}</tbody></table>`;
}

const formatCell = (cell: Cell): Content =>
  typeof cell === "string" ? shorten(cell, longestCell) : code(cell.code);

function formatPart(part: Part, findItem: FindItem): Content {
  if (part.type === "text") return paragraph(part.text);
  if (part.type === "table")
    return formatTable(
      part.columns,
      part.rows.map((row) => row.map(formatCell)),
    );
  const members = part.members.map(({ kind, name, qualifiedName }) => {
    const id = findItem(kind, qualifiedName);
    return id === undefined ? code(name) : html`<a href="#${id}">${code(name)}</a>`;
  });
  return html`<h4>${part.title}</h4>${names(members)}`;
}

/** Names without the values, which may be secret. */
const namesOnly = (value: unknown) =>
  isRecord(value) ? Object.fromEntries(Object.keys(value).map((name) => [name, "…"])) : value;

/** The first bytes of a text, without half a character. */
function cut(text: string): string {
  const bytes = Buffer.from(text);
  let end = longestDefinition;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString();
}

/** A definition as JSON that can be opened, cut after 64 KiB. */
function formatDefinition(
  definition: object,
  { file, qualifiedName, declaration }: CatalogItem["item"],
): Html {
  const json = JSON.stringify(definition, null, 2);
  const size = Buffer.byteLength(json);
  const isCut = size > longestDefinition;
  const command = `trailblaze inspect ${quoteForShell(qualifiedName)} --kind ${declaration.kind} --json`;
  return html`<details class="source"><summary>Definition${file !== null && html`<bdi class="mono">${file}</bdi>`}</summary><pre tabindex="0"><bdi>${isCut ? cut(json) : json}</bdi></pre>${
    isCut &&
    html`<p class="note">Cut after 64 KiB of ${Math.ceil(size / 1024)} KiB. Run <code>${command}</code> to see all of it.</p>`
  }</details>`;
}

const isAbout = ({ item: { declaration } }: CatalogItem, problem: Problem) =>
  problem.kind === declaration.kind && problem.item === declaration.name;

function formatItem(one: CatalogItem, pack: CatalogPack, isFull: boolean, findItem: FindItem): Html {
  const { item, id, lock } = one;
  const page = createPageOfItem(item, pack.described);
  const { kind, title, description, qualifiedName } = page;
  const problems = pack.problems.filter((problem) => isAbout(one, problem));
  const isCode = item.format !== undefined && !["json", "yaml", "yml"].includes(item.format);
  const { definition } = item;
  const isSecret = (key: string) => kind === "server" && (key === "env" || key === "headers");
  const facts = page.facts.map(({ key, value }) => {
    const shown = isSecret(key) && isRecord(value) ? Object.keys(value).join(", ") : formatValue(value);
    return [key, code(shown)] as const;
  });
  const shown = Object.entries(definition ?? {}).map(([key, value]) => [
    key,
    isSecret(key) ? namesOnly(value) : value,
  ]);
  const details = html`${facts.length > 0 && formatFacts(facts)}${page.parts.map((part) => formatPart(part, findItem))}`;
  return html`<article class="item" id="${id}" data-kind="${kind}" data-problems="${stateOf(problems)}">
<header><h3><a href="#${id}"><bdi>${page.name}</bdi></a></h3><p class="name">${kind} · ${title !== "" && html`<bdi>${title.slice(0, 200)}</bdi> · `}<bdi class="mono">${qualifiedName}</bdi></p>${formatBadges(
    [
      lock && lockBadges[lock],
      isCode && ["Defined in code"],
      definition === null && ["No valid definition", "error"],
      ...problemBadges(problems),
    ],
  )}${paragraph(isFull ? description : shorten(description, shortDescription))}</header>
${formatProblems(problems)}${isFull && definition !== null ? html`${details}${formatDefinition(Object.fromEntries(shown), item)}` : item.file !== null && html`<p class="note mono"><bdi>${item.file}</bdi></p>`}</article>`;
}

/** Why sessions do not use a pack, what the lock says about it, and how many problems it has. */
const packBadges = ({ described: { pack }, lock, problems }: CatalogPack): (Badge | false | undefined)[] => [
  pack.shadowed
    ? ["Shadowed by another copy", "warning"]
    : pack.enabled === false && ["Not used by sessions"],
  lock && lockBadges[lock],
  ...problemBadges(problems),
];

const countKinds = (packs: readonly CatalogPack[]) =>
  kinds.flatMap((kind) => {
    const items = packs.flatMap((pack) => pack.items).filter(({ item }) => item.declaration.kind === kind);
    return items.length === 0 ? [] : [{ kind, count: countOf(items.length, kind) }];
  });

const formatName = ({ described: { pack } }: CatalogPack, id?: string): Html => {
  const name = html`<bdi>${pack.name}</bdi>`;
  const version = pack.version !== null && html`<bdi class="version">${shorten(pack.version, 60)}</bdi>`;
  return html`${id === undefined ? name : html`<a href="#${id}">${name}</a>`} ${version}`;
};

const formatCard = (pack: CatalogPack): Html =>
  html`<article class="card"><h3>${formatName(pack, pack.id)}</h3>
${paragraph(shorten(pack.described.pack.description ?? "", shortDescription))}${formatBadges([
  ...countKinds([pack]).map(({ count }): Badge => [count, "accent"]),
  ...packBadges(pack),
])}</article>`;

const origins = {
  self: "This project",
  workspace: "This project's workspace",
  direct: "Dependency of the project",
  transitive: "Dependency of another package",
  undeclared: "Installed, but not declared",
  global: "Installed globally",
} as const;

/** The sections of all packs, each with those of its items. */
function formatPacks({ packs, hasLock }: Catalog): Content {
  // Names of shadowed packs mean the copy in use.
  const used = packs.filter(({ described }) => !described.pack.shadowed).flatMap(({ items }) => items);
  const ids = new Map(used.map(({ item, id }) => [`${item.declaration.kind} ${item.qualifiedName}`, id]));
  const findItem: FindItem = (kind, qualifiedName) => ids.get(`${kind} ${qualifiedName}`);
  let size = 0;
  const formatPack = (pack: CatalogPack): Html => {
    const { described, id, items, problems } = pack;
    const { name, description, origin, needs } = described.pack;
    const [repository, homepage] = [
      readRepository(described.manifest.value.repository),
      readHttps(described.manifest.value.homepage),
    ];
    const about = formatFacts([
      ["Comes from", html`${origins[origin]}, in ${code(pack.location)}`],
      ["Lock", !hasLock && "The project has no lock"],
      ["Repository", repository !== undefined && linkTo(repository)],
      ["Homepage", homepage !== undefined && linkTo(homepage)],
      ["Needs", needs === undefined && "Not declared"],
    ]);
    let isFull = true;
    const formatted = items.map((one) => {
      isFull = size < largestItems;
      const section = formatItem(one, pack, isFull, findItem);
      size += Buffer.byteLength(section.markup);
      return section;
    });
    const others = problems.filter((problem) => !items.some((one) => isAbout(one, problem)));
    return html`<section class="pack" id="${id}" data-problems="${stateOf(problems)}" aria-labelledby="${id}:name"><div><h2 id="${id}:name">${formatName(pack)}</h2>${paragraph(description ?? "")}${formatBadges(packBadges(pack))}
${about}${formatPart(createNeedsTable(needs), findItem)}</div>
${formatProblems(others)}${items.length === 0 ? html`<p class="soft">This pack declares no items.</p>` : formatted}${
  !isFull &&
  html`<p class="note">The page is too large, so the definitions of the last items are not shown. Run <code>trailblaze inspect ${quoteForShell(name)} --json</code> to see them.</p>`
}</section>`;
  };
  return packs.map(formatPack);
}

function formatServers(servers: readonly ConfigServer[]): Content {
  const rows = servers.map(({ name, type, runs, names: variables, lock }) => [
    html`<bdi>${name}</bdi>${formatBadges([lock && lockBadges[lock]])}`,
    html`${type}${runs !== "" && html` ${code(runs)}`}`,
    names(variables.map((one) => code(one))),
  ]);
  return (
    rows.length > 0 &&
    html`<section aria-labelledby="config"><h2 id="config">Servers of the project</h2>
<p class="soft">From the project's configuration. Arguments and values are not shown.</p>${formatTable(["Name", "Runs", "Variables and headers"], rows)}</section>`
  );
}

/** The field, the filters and the messages of the search, then the cards. */
function formatCards(packs: readonly CatalogPack[]): Html {
  const chip = (words: string, data: Html) =>
    html`<button class="chip" type="button" aria-pressed="false" ${data}>${words}</button>`;
  const hasProblems = packs.some(({ problems }) => stateOf(problems) !== "");
  return html`<div class="finder" id="finder" role="search" hidden>
<label for="search">Search packs and their items</label>
<p class="soft" id="status" role="status"></p>
<input id="search" type="search" autocomplete="off" spellcheck="false" aria-keyshortcuts="/">
<div class="names" role="group" aria-label="Filters">${countKinds(packs).map(({ kind }) => chip(titlesOfKinds[kind], html`data-kind="${kind}"`))}${
    hasProblems && chip("With problems", html`data-problems="1"`)
  }<button class="chip" id="reset" type="button">Clear</button></div>
</div>
<h2>Packs</h2><div class="cards">${packs.map(formatCard)}</div>
<p class="empty" id="nothing" hidden>Nothing matches. Try fewer words, or clear the filters.</p>`;
}

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Nothing is loaded, and only the script and the style of this program apply. */
const policy = `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(script)}; base-uri 'none'; form-action 'none'`;

/** The page: a card for each pack, then a section for each pack with its items. */
export function formatCatalog(catalog: Catalog, title: string): string {
  const { packs, servers, problems } = catalog;
  const summary = [countOf(packs.length, "pack"), ...countKinds(packs).map(({ count }) => count)].join(" · ");
  const content =
    packs.length === 0
      ? html`<p class="empty">No packs are installed in this project. Run <code>trailblaze search</code> to find packs, and <code>trailblaze add PACK</code> to install one.</p>`
      : html`${formatCards(packs)}${formatPacks(catalog)}`;
  const { markup } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Trailblaze ${hostVersion}">
<title>${printable(title)}</title>
<style>${trusted(style)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top"><span class="soft">Trailblaze catalog</span>
<button class="chip" id="theme" type="button" hidden>Dark theme</button></header>
<main id="main" tabindex="-1">
<h1>${title}</h1><p class="soft">${summary}</p>
${content}
${formatServers(servers)}
${problems.length > 0 && html`<section aria-labelledby="problems"><h2 id="problems">Problems of the project</h2><p class="soft">They belong to no pack.</p>${formatProblems(problems)}</section>`}
</main>
<footer>Made by Trailblaze ${hostVersion} from installed packages. Its packs as data: <a href="catalog.json">catalog.json</a></footer>
<script>${trusted(script)}</script>
</body>
</html>
`;
  return markup;
}
