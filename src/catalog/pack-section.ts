import { isRecord } from "../data/parse-json.ts";
import { needsKeys } from "../extension-schema/index.ts";
import type { InspectedItem } from "../inspection/types.ts";
import type { Kind } from "../kinds.ts";
import type { Problem } from "../problems/index.ts";
import { quoteForShell, shorten } from "../problems/text.ts";
import type { Catalog, CatalogItem, CatalogPack } from "./collect.ts";
import { type Content, type Html, html, linkTo } from "./html.ts";
import {
  badge,
  badges,
  formatFacts,
  formatProblems,
  hasProblems,
  lockBadge,
  problemBadges,
} from "./layout.ts";
import {
  code,
  formatDefinition,
  formatSchemaTable,
  formatTable,
  paragraph,
  requiredMark,
} from "./schema-table.ts";
import { type Definition, entriesOf, recordsIn, textOf, textsIn } from "./values.ts";

/** Limit on the bytes of all items, so that the page stays below 25 MB. Later ones are shown without their definitions. */
const largestItems = 16 << 20;

/** Limit on the characters of a description of an item without its definition. */
const shortDescription = 280;

const origins = {
  self: "This project",
  workspace: "This project's workspace",
  direct: "Dependency of the project",
  transitive: "Dependency of another package",
  undeclared: "Installed, but not declared",
  global: "Installed globally",
} as const;

const needsTitles = {
  env: "Needs variables",
  network: "Needs network",
  read: "Needs to read",
  write: "Needs to write",
  tools: "Needs tools",
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

const kindWords: Readonly<Record<Kind, string>> = {
  server: "Server",
  tool: "Tool",
  toolset: "Toolset",
  prompt: "Prompt",
  resource: "Resource",
};

/** The ID of an item's element. */
type FindItem = (kind: Kind, qualifiedName: string) => string | undefined;

/** Finds where items are shown. Names of shadowed packs mean the copy in use. */
function indexItems(packs: readonly CatalogPack[]): FindItem {
  const used = packs.filter(({ found }) => !found.pack.shadowed).flatMap(({ items }) => items);
  const ids = new Map(used.map(({ item, id }) => [`${item.declaration.kind} ${item.qualifiedName}`, id]));
  return (kind, qualifiedName) => ids.get(`${kind} ${qualifiedName}`);
}

/** Names of items, with links to those that are in the catalog. */
function linkItems(kind: Kind, names: readonly string[], findItem: FindItem): Html {
  return html`<span class="names">${names.map((name) => {
    const id = findItem(kind, name);
    return id === undefined ? code(name) : html`<a href="#${id}">${code(name)}</a>`;
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

function formatMembers({ item, members }: CatalogItem, findItem: FindItem): Content {
  if (members === undefined) return undefined;
  const tools = members.tools.flatMap((member) =>
    member.type === "tool" ? [member.item.qualifiedName] : member.type === "builtIn" ? [member.name] : [],
  );
  const namesIn = (list: readonly InspectedItem[]) => list.map(({ qualifiedName }) => qualifiedName);
  const list = (kind: Kind, names: readonly string[]) => names.length > 0 && linkItems(kind, names, findItem);
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
function formatContents(one: CatalogItem, findItem: FindItem): Content {
  const { item } = one;
  const { definition, shape } = item;
  if (definition === null) return undefined;
  const kind: string = item.declaration.kind;
  if (shape === "subprocessServer") return formatLaunch(definition, one);
  if (kind === "server" || kind === "toolset") {
    const entries = recordsIn(definition.entries);
    return html`${paragraph(textOf(definition.instructions), "description")}${formatMembers(one, findItem)}${entries.map(
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

/** Whether the filter by problems shows it. */
const stateOf = (problems: readonly Problem[]) => (hasProblems(problems) ? "1" : "");

const isAbout = (problem: Problem, { kind, name }: InspectedItem["declaration"]) =>
  problem.kind === kind && problem.item === name;

function formatItem(
  one: CatalogItem,
  problems: readonly Problem[],
  isFull: boolean,
  findItem: FindItem,
): Html {
  const { item, id, lock } = one;
  const { definition, declaration, qualifiedName, file } = item;
  const { kind, name } = declaration;
  const advertised = textOf(definition?.name);
  const title = textOf(definition?.title);
  const description = textOf(definition?.description) || (declaration.description ?? "");
  const isCode = item.format !== undefined && !["json", "yaml", "yml"].includes(item.format);
  const own = problems.filter((problem) => isAbout(problem, declaration));
  const shown = kind === "server" && definition !== null ? withoutValues(definition) : definition;
  return html`<article class="item" id="${id}" data-kind="${kind}" data-problems="${stateOf(own)}">
<header><h3><a href="#${id}"><bdi>${advertised || name}</bdi></a></h3><p class="name">${kindWords[kind]} · ${title !== "" && html`<bdi>${title.slice(0, 200)}</bdi> · `}<bdi class="mono">${qualifiedName}</bdi></p>${badges(
    [
      lockBadge(lock),
      ...hintBadges(definition),
      isCode && badge("Defined in code"),
      definition === null && badge("No valid definition", "error"),
      ...problemBadges(own),
    ],
  )}${paragraph(isFull ? description : shorten(description, shortDescription), "description")}</header>
${formatProblems(own)}${isFull && formatContents(one, findItem)}${
  isFull && shown !== null
    ? formatDefinition(
        shown,
        `trailblaze inspect ${quoteForShell(qualifiedName)} --kind ${kind} --json`,
        file,
      )
    : file !== null && html`<p class="note mono"><bdi>${file}</bdi></p>`
}</article>`;
}

/** What the author says that the pack uses on the machine. */
function describeNeeds({ found }: CatalogPack): (readonly [string, Content])[] {
  const { needs } = found.pack;
  if (needs === undefined) return [["Needs", "Not declared"]];
  return needsKeys.map((key) => {
    const entries = needs[key];
    const shown = entries === undefined ? "Not declared" : entries.length === 0 ? "None" : namesOf(entries);
    return [needsTitles[key], shown];
  });
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

/** Why sessions do not use a pack, what the lock says about it, and how many problems it has. */
export const stateBadges = ({
  enabled,
  found,
  lock,
  problems,
}: CatalogPack): (Html | undefined | false)[] => [
  found.pack.shadowed
    ? badge("Shadowed by another copy", "warning")
    : !enabled && badge("Not used by sessions"),
  lock !== undefined && lockBadge(lock.state),
  ...problemBadges(problems),
];

/** The sections of all packs, each with those of its items. */
export function formatPackSections({ packs, hasLock }: Catalog): Content {
  const findItem = indexItems(packs);
  let size = 0;
  const formatPack = (pack: CatalogPack): Html => {
    const { found, id, items, problems } = pack;
    const { name, version, description, origin } = found.pack;
    const isOfItem = (problem: Problem) =>
      items.some(({ item: { declaration } }) => isAbout(problem, declaration));
    const about = formatFacts([
      ["Comes from", html`${origins[origin]}, in ${code(pack.location)}`],
      ["Lock", describeLock(pack, hasLock)],
      ["Repository", pack.repository !== undefined && linkTo(pack.repository)],
      ["Homepage", pack.homepage !== undefined && linkTo(pack.homepage)],
      ...describeNeeds(pack),
    ]);
    let isFull = true;
    const formatOne = (one: CatalogItem): Html => {
      isFull = size < largestItems;
      const formatted = formatItem(one, problems, isFull, findItem);
      size += Buffer.byteLength(formatted.markup);
      return formatted;
    };
    return html`<section class="pack" id="${id}" data-problems="${stateOf(problems)}" aria-labelledby="${id}:name"><div class="about"><h2 id="${id}:name"><bdi>${name}</bdi> ${version !== null && html`<bdi class="version">${version.slice(0, 60)}</bdi>`}</h2>${paragraph(description ?? "")}${badges(stateBadges(pack))}
${about}</div>
${formatProblems(problems.filter((problem) => !isOfItem(problem)))}
${items.length === 0 ? html`<p class="soft">This pack declares no items.</p>` : items.map(formatOne)}${
  !isFull &&
  html`<p class="note">The page is too large, so the definitions of the last items are not shown. Run <code>trailblaze inspect ${quoteForShell(name)} --json</code> to see them.</p>`
}</section>`;
  };
  const count = packs.reduce((sum, { items }) => sum + items.length, 0);
  return html`<div class="sections${count > 200 && " many"}">${packs.map(formatPack)}</div>`;
}
