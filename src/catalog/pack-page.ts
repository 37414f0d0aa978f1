import { isRecord } from "../data/parse-json.ts";
import { needsKeys } from "../extension-schema/index.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { type Kind, kinds } from "../kinds.ts";
import type { Problem } from "../problems/index.ts";
import { quoteForShell } from "../problems/text.ts";
import type { Catalog, CatalogItem, CatalogPack } from "./collect.ts";
import { type Content, type Html, html, linkTo } from "./html.ts";
import { packBadges } from "./index-page.ts";
import {
  badge,
  badges,
  countOf,
  formatFacts,
  formatFinder,
  formatPage,
  formatProblems,
  indexFile,
  kindTitles,
  lockBadge,
  noMatch,
  problemBadges,
} from "./layout.ts";
import { addressFrom } from "./page-paths.ts";
import {
  code,
  formatDefinition,
  formatSchemaTable,
  formatTable,
  paragraph,
  requiredMark,
} from "./schema-table.ts";
import { type Definition, entriesOf, recordsIn, textOf, textsIn } from "./values.ts";

/** Limit on the bytes of a page's items. Later ones are shown without their definitions. */
const largestItems = 16 << 20;

/** Fewer items need no search. */
const fewestSearched = 5;

/** More items are not listed in the contents of a page. */
const mostContents = 400;

const origins = {
  self: "This project",
  workspace: "This project's workspace",
  direct: "Dependency of the project",
  transitive: "Dependency of another package",
  global: "Installed globally",
} as const;

const needsTitles = {
  env: "Environment variables",
  network: "Network",
  read: "Reads",
  write: "Writes",
  tools: "Calls tools",
} as const;

const hintWords: Readonly<Record<string, readonly [whenTrue: string, whenFalse: string]>> = {
  readOnlyHint: ["Read-only", "May change things"],
  destructiveHint: ["Destructive", "Not destructive"],
  idempotentHint: ["Idempotent", "Not idempotent"],
  openWorldHint: ["Open world", "Closed world"],
};

const resourceTitles = {
  uri: "URI",
  uriTemplate: "URI template",
  mimeType: "MIME type",
  file: "File",
} as const;

/** Finds the address of an item on its pack's page, from another page. */
export type FindItem = (kind: Kind, qualifiedName: string, from: string) => string | undefined;

interface Context {
  pack: CatalogPack;
  findItem: FindItem;
}

/** Names of items, with links to those that are in the catalog. */
function linkItems(kind: Kind, names: readonly string[], { pack, findItem }: Context): Html {
  return html`<span class="names">${names.map((name) => {
    const address = findItem(kind, name, pack.page);
    return address === undefined ? code(name) : html`<a href="${address}">${code(name)}</a>`;
  })}</span>`;
}

const namesOf = (names: readonly string[]): Content =>
  names.length > 0 && html`<span class="names">${names.map((name) => code(name))}</span>`;

function formatTool(definition: Definition): Content {
  const { inputSchema, outputSchema, options } = definition;
  const input = formatSchemaTable("Arguments", inputSchema);
  const hasOther =
    isRecord(inputSchema) && ["anyOf", "oneOf", "allOf", "$ref"].some((key) => key in inputSchema);
  const rows = entriesOf(options).map(([name, option]) => {
    const { default: fallback, description } = isRecord(option) ? option : {};
    return [
      code(name),
      fallback === undefined ? "" : code(JSON.stringify(fallback) ?? ""),
      textOf(description).slice(0, 1024),
    ];
  });
  const none = hasOther ? "The definition has its schema." : "No arguments.";
  return html`${input ?? html`<p class="note">${none}</p>`}${formatSchemaTable("Result", outputSchema)}${formatTable("Options", ["Name", "Default", "Description"], rows)}`;
}

/** How a subprocess server is launched: names of variables only, never their values. */
function formatLaunch(definition: Definition, { listed }: CatalogItem): Html {
  const { command, script, package: name, bin, args, cwd, env, envPassthrough } = definition;
  const text = (value: unknown) => textOf(value) !== "" && code(textOf(value));
  const words = textsIn(args);
  return formatFacts([
    ["Script", text(script)],
    ["Command", text(command)],
    ["Package", text(name)],
    ["Program", text(bin)],
    ["Arguments", words.length > 0 && code(words.map(quoteForShell).join(" "))],
    ["Folder", text(cwd)],
    ["Sets variables", namesOf(entriesOf(env).map(([key]) => key))],
    ["Passes variables", namesOf(textsIn(envPassthrough))],
    ["Tools", listed === undefined ? "Known when the server runs" : namesOf(listed) || "None"],
  ]);
}

function formatMembers({ item, members }: CatalogItem, context: Context): Content {
  if (members === undefined) return undefined;
  const tools = members.tools.flatMap((member) =>
    member.type === "tool" ? [member.item.qualifiedName] : member.type === "builtIn" ? [member.name] : [],
  );
  const namesIn = (list: readonly InspectedItem[]) => list.map(({ qualifiedName }) => qualifiedName);
  const list = (kind: Kind, names: readonly string[]) => names.length > 0 && linkItems(kind, names, context);
  const transport =
    textOf(item.definition?.transport) || (item.definition?.kind === "Mcp.HttpEndpoint" ? "http" : "");
  const isServer = item.declaration.kind === "server";
  return formatFacts([
    ["Tools", list("tool", tools)],
    ["Toolsets", list("toolset", namesIn(members.toolsets))],
    ["Prompts", list("prompt", namesIn(members.prompts))],
    ["Resources", list("resource", namesIn(members.resources))],
    ["Transport", isServer && (transport || "stdio")],
  ]);
}

const formatArguments = (definition: Definition): Content =>
  formatTable(
    "Arguments",
    ["Name", "Description"],
    recordsIn(definition.arguments).map(({ name, required, description }) => [
      html`${code(textOf(name))}${required === true && requiredMark}`,
      textOf(description).slice(0, 1024),
    ]),
  );

/** What a definition of an item says, besides its description. */
function formatContents(one: CatalogItem, context: Context): Content {
  const { item } = one;
  const { definition, shape } = item;
  if (definition === null) return undefined;
  const kind: string = item.declaration.kind;
  if (shape === "subprocessServer") return formatLaunch(definition, one);
  if (kind === "server" || kind === "toolset") {
    const entries = recordsIn(definition.entries);
    return html`${paragraph(textOf(definition.instructions), "description")}${formatMembers(one, context)}${entries.map(
      (entry) =>
        html`<h4>${code(textOf(entry.name))}</h4>${paragraph(textOf(entry.description))}${formatSchemaTable("Arguments", entry.argumentsSchema)}`,
    )}`;
  }
  if (kind === "tool") return formatTool(definition);
  const facts = Object.entries(resourceTitles).map(([key, words]) => {
    const value = textOf(definition[key]);
    return [words, value !== "" && code(value)] as const;
  });
  return html`${facts.some(([, value]) => value) && formatFacts(facts)}${formatArguments(definition)}`;
}

/** A definition without the values of environment variables, and of headers. */
function withoutValues(definition: Definition): Definition {
  const hide = (value: unknown) =>
    isRecord(value) ? Object.fromEntries(Object.keys(value).map((name) => [name, "…"])) : value;
  return Object.fromEntries(
    Object.entries(definition).map(([key, value]) => [
      key,
      key === "env" || key === "headers" ? hide(value) : value,
    ]),
  );
}

const hintBadges = (definition: Definition | null) =>
  entriesOf(definition?.annotations).flatMap(([name, value]) => {
    const words = Object.hasOwn(hintWords, name) ? hintWords[name] : undefined;
    return words === undefined || typeof value !== "boolean" ? [] : [badge(value ? words[0] : words[1])];
  });

function formatItem(one: CatalogItem, problems: readonly Problem[], isFull: boolean, context: Context): Html {
  const { item, id, lock } = one;
  const { definition, declaration, qualifiedName, file } = item;
  const { kind, name } = declaration;
  const advertised = textOf(definition?.name);
  const title = textOf(definition?.title);
  const description = textOf(definition?.description) || (declaration.description ?? "");
  const isCode = item.format !== undefined && !["json", "yaml", "yml"].includes(item.format);
  const own = problems.filter((problem) => problem.kind === kind && problem.item === name);
  const shown = kind === "server" && definition !== null ? withoutValues(definition) : definition;
  return html`<article class="item" id="${id}" data-entry data-kinds="${kind}" data-problems="${own.some(({ severity }) => severity !== "info") ? "1" : ""}">
<header><h3><a href="#${id}"><bdi>${advertised || name}</bdi></a></h3><p class="name">${title !== "" && html`<bdi>${title.slice(0, 200)}</bdi> · `}<bdi class="mono">${qualifiedName}</bdi></p>${badges(
    [
      lockBadge(lock),
      ...hintBadges(definition),
      isCode && badge("Defined in code"),
      definition === null && badge("No valid definition", "error"),
      ...problemBadges(own),
    ],
  )}${paragraph(description, "description")}</header>
${formatProblems(own)}${isFull && formatContents(one, context)}${
  isFull && shown !== null
    ? formatDefinition(
        shown,
        `trailblaze inspect ${quoteForShell(qualifiedName)} --kind ${kind} --json`,
        file,
      )
    : file !== null && html`<p class="note mono"><bdi>${file}</bdi></p>`
}</article>`;
}

function formatNeeds({ found }: CatalogPack): Content {
  const { needs } = found.pack;
  if (needs === undefined) return html`<p class="soft">The pack does not declare what it needs.</p>`;
  return formatFacts(
    needsKeys.map((key) => {
      const entries = needs[key];
      const shown = entries === undefined ? "Not declared" : entries.length === 0 ? "None" : namesOf(entries);
      return [needsTitles[key], shown] as const;
    }),
  );
}

const lockTexts = {
  approved: "Everything is approved",
  changed: "Differs from what is approved",
  notApproved: "Not approved",
  notLocked: "Not locked",
} as const;

function describeLock({ lock, found }: CatalogPack, hasLock: boolean): Content {
  if (lock === undefined) return hasLock ? undefined : "The project has no lock";
  const { version } = found.pack;
  return html`${lockTexts[lock.state]}${
    lock.version !== undefined &&
    lock.version !== version &&
    html` (version <bdi>${lock.version}</bdi> was approved)`
  }${lock.needsDiffer && ". What it needs has changed"}`;
}

function formatContentsList(pack: CatalogPack, sections: readonly (readonly [string, string])[]): Html {
  const isShort = pack.items.length <= mostContents;
  const byKind = kinds.flatMap((kind) => {
    const items = pack.items.filter(({ item }) => item.declaration.kind === kind);
    if (items.length === 0) return [];
    return [
      html`<li><a href="#${kind}s">${kindTitles[kind]}</a>${
        isShort &&
        html`<ul>${items.map(
          ({ item, id }) =>
            html`<li><a href="#${id}"><bdi>${textOf(item.definition?.name) || item.declaration.name}</bdi></a></li>`,
        )}</ul>`
      }</li>`,
    ];
  });
  return html`<nav class="contents" aria-label="On this page"><ul>${sections.map(
    ([id, words]) => html`<li><a href="#${id}">${words}</a></li>`,
  )}${byKind}</ul></nav>`;
}

/** The page of a pack. */
export function formatPackPage(
  pack: CatalogPack,
  catalog: Catalog,
  title: string,
  findItem: FindItem,
): string {
  const { found, page, items, problems } = pack;
  const { name, version, description, origin } = found.pack;
  const context = { pack, findItem };
  const ofPack = problems.filter(
    (problem) =>
      !items.some(
        ({ item }) => item.declaration.kind === problem.kind && item.declaration.name === problem.item,
      ),
  );
  let size = 0;
  let isFull = true;
  const formatOne = (one: CatalogItem): Html => {
    const formatted = formatItem(one, problems, isFull, context);
    size += formatted.markup.length;
    isFull = isFull && size < largestItems;
    return formatted;
  };
  const kindSections = kinds.flatMap((kind) => {
    const own = items.filter(({ item }) => item.declaration.kind === kind);
    return own.length === 0
      ? []
      : [
          html`<section aria-labelledby="${kind}s" data-group><h2 id="${kind}s">${kindTitles[kind]}</h2>${own.map(formatOne)}</section>`,
        ];
  });
  const present = kinds.filter((kind) => items.some(({ item }) => item.declaration.kind === kind));
  const about = formatFacts([
    ["npm package", code(name)],
    ["Version", version === null ? "None" : html`<bdi>${version.slice(0, 100)}</bdi>`],
    ["Comes from", html`${origins[origin]}, in ${code(pack.location)}`],
    ["Lock", describeLock(pack, catalog.hasLock)],
    ["Repository", pack.repository !== undefined && linkTo(pack.repository)],
    ["Homepage", pack.homepage !== undefined && linkTo(pack.homepage)],
  ]);
  const sections = [
    ["about", "About"],
    ...(ofPack.length > 0 ? [["problems", "Problems"] as const] : []),
    ["needs", "Needs"],
  ] as const;
  const empty = html`<div class="empty"><p>This pack declares no items.</p></div>`;
  return formatPage({
    file: page,
    title: `${name} · ${title}`,
    crumbs: html`<a href="${addressFrom(page, indexFile)}">← ${title}</a>`,
    body: html`<div class="page${items.length > 0 && " has-contents"}${items.length > 200 && " many"}">${items.length > 0 && formatContentsList(pack, sections)}<div>
<div class="intro"><h1><bdi>${name}</bdi> ${version !== null && html`<bdi class="version">${version.slice(0, 60)}</bdi>`}</h1>${paragraph(description ?? "")}${packBadges(pack)}</div>
<section aria-labelledby="about"><h2 class="visually-hidden" id="about">About</h2>${about}</section>
${ofPack.length > 0 && html`<section aria-labelledby="problems"><h2 id="problems">Problems</h2>${formatProblems(ofPack)}</section>`}
<section aria-labelledby="needs"><h2 id="needs">Needs</h2><p class="soft small">What its author says that the pack uses on your machine.</p>${formatNeeds(pack)}</section>
${
  items.length >= fewestSearched &&
  formatFinder({
    label: "Search the items of this pack",
    noun: "item|items",
    kinds: present,
    hasProblems: items.some(({ item }) =>
      problems.some(({ kind, item: of }) => kind === item.declaration.kind && of === item.declaration.name),
    ),
    allKinds: kinds,
  })
}
${items.length === 0 ? empty : [kindSections, noMatch]}${
  !isFull &&
  html`<p class="note">The page is too large, so the definitions of its last items are not shown. Run <code>trailblaze inspect ${quoteForShell(name)} --json</code> to see ${countOf(items.length, "item")}.</p>`
}</div></div>`,
  });
}
