import type { UserServer } from "../config/session-config.ts";
import { isRecord } from "../data/parse-json.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import { findReferences, type WrittenReference, withoutRange } from "../extension-schema/references.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import { keyOfKind } from "../kinds.ts";
import type { ListedEntry } from "../mcp/client/server-lists.ts";
import { placeOfCode } from "../runtime/tool-code.ts";
import { isSameJson, setKey, toJson } from "./canonical-json.ts";
import { ownEntry } from "./compare.ts";
import type { Json, LockedItem, LockedServer } from "./types.ts";

/** Lines of a text, so that a diff shows which one has changed. Split at LF only, because they are joined again. */
export const linesOf = (text: unknown) => (typeof text === "string" ? text.split("\n") : undefined);

const isEmpty = (value: Json) =>
  typeof value === "object" &&
  value !== null &&
  (Array.isArray(value) ? value : Object.keys(value)).length === 0;

/** An item of these values as JSON, without absent and empty ones. Values that are the same in `known` are not copied. */
function createItem(values: Readonly<Record<string, unknown>>, known?: LockedItem): LockedItem {
  const item: LockedItem = {};
  for (const key of Object.keys(values)) {
    const before = known === undefined ? undefined : ownEntry(known, key);
    const json = before !== undefined && isSameJson(before, values[key]) ? before : toJson(values[key]);
    if (json !== undefined && !isEmpty(json)) setKey(item, key, json);
  }
  return item;
}

/** The code that the value at a path in a definition names, as `./module.js#export`. */
function describeCodeAt(value: unknown, path: readonly string[], item: InspectedItem) {
  const { source } = placeOfCode(value, "", path, item) ?? {};
  if (source?.from === "module") return source.handler;
  return source?.from === "definition" ? `./${source.file}#${source.path.join(".")}` : undefined;
}

const describeCode = (definition: Readonly<Record<string, unknown>>, key: string, item: InspectedItem) =>
  describeCodeAt(definition[key], [key], item);

/** The suggestions of a prompt or a template: arrays as they are, and code. */
function describeComplete({ complete }: Readonly<Record<string, unknown>>, item: InspectedItem) {
  if (!isRecord(complete)) return undefined;
  const described = Object.entries(complete).map(([name, source]) => [
    name,
    Array.isArray(source) ? source : describeCodeAt(source, ["complete", name], item),
  ]);
  return Object.fromEntries(described);
}

/** What clients and models see of an entry of a list, but for what changes with its content. */
function describeShown(entry: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { title, description, inputSchema, outputSchema, arguments: parameters, mimeType } = entry;
  const { annotations, icons, execution, _meta } = entry;
  const { lastModified: _, ...shown } = isRecord(annotations) ? annotations : {};
  return {
    title,
    description: linesOf(description),
    inputSchema,
    outputSchema,
    arguments: parameters,
    mimeType,
    annotations: shown,
    icons,
    execution,
    meta: _meta,
  };
}

/** An entry of a server's list. `known`: its entry in the lock, which makes this faster. Throws `UnrecordableError`. */
export const describeListed = ({ kind, entry }: ListedEntry, known?: LockedItem): LockedItem =>
  createItem({ name: kind === "resource" ? entry.name : undefined, ...describeShown({ ...entry }) }, known);

function describeTool(
  definition: Readonly<Record<string, unknown>>,
  item: InspectedItem,
  known: LockedItem | undefined,
): LockedItem {
  const values = {
    name: definition.name ?? item.declaration.name,
    ...describeShown(definition),
    runs: describeCode(definition, "handler", item),
    initialize: describeCode(definition, "initialize", item),
    options: definition.options,
  };
  return createItem(values, known);
}

/** A reference as a qualified name, with the kind unless it is a tool. */
export function describeMember({ reference, kind }: WrittenReference, pack: DiscoveredPack): string {
  const name = withoutRange(reference);
  const isOwn = pack[keyOfKind[kind]].some((one) => one.name === name);
  const qualified = isOwn ? `${pack.qualifiedName}/${name}` : name;
  return kind === "tool" ? qualified : `${kind}:${qualified}`;
}

/** The references of an item, sorted. */
const describeMembers = (item: InspectedItem, pack: DiscoveredPack): string[] =>
  [...new Set(findReferences(item).map((written) => describeMember(written, pack)))].sort();

function describeComposed(
  definition: Readonly<Record<string, unknown>>,
  item: InspectedItem,
  pack: DiscoveredPack,
) {
  const isHttp = definition.transport === "http" || definition.kind === "Mcp.HttpEndpoint";
  const info = item.shape === "serverDocument" ? definition.serverInfo : definition;
  const { name, version } = isRecord(info) ? info : ({} as Readonly<Record<string, unknown>>);
  const { name: ofMetadata } = isRecord(definition.metadata) ? definition.metadata : { name: undefined };
  return createItem({
    name: name ?? ofMetadata,
    version,
    instructions: linesOf(definition.instructions),
    members: describeMembers(item, pack),
    transport: isHttp ? "http" : undefined,
    initialize: describeCode(definition, "initialize", item),
  });
}

/** How a subprocess server of a pack is launched. */
function describeLaunch(definition: Readonly<Record<string, unknown>>): LockedServer {
  const { command, script, package: name, bin, args, cwd, env, envPassthrough, context } = definition;
  const launch = createItem({
    command,
    script,
    package: name,
    bin,
    args,
    env,
    context,
    cwd: cwd === "." || cwd === "./" ? undefined : cwd,
    envPassthrough: Array.isArray(envPassthrough) ? [...new Set(envPassthrough)].sort() : undefined,
  });
  return { launch, lists: null };
}

const describeEntry = (entry: unknown) =>
  isRecord(entry) && typeof entry.description === "string"
    ? { ...entry, description: linesOf(entry.description) }
    : entry;

function describeToolset(
  definition: Readonly<Record<string, unknown>>,
  item: InspectedItem,
  pack: DiscoveredPack,
) {
  if (item.shape !== "toolsBundle") return createItem({ members: describeMembers(item, pack) });
  const { metadata: _, description, entries, ...others } = definition;
  return createItem({
    ...others,
    description: linesOf(description),
    entries: Array.isArray(entries) ? entries.map(describeEntry) : entries,
  });
}

function describeMessage(message: unknown) {
  if (!isRecord(message)) return message;
  const { content } = message;
  if (typeof content === "string") return { ...message, content: linesOf(content) };
  return isRecord(content) && typeof content.text === "string"
    ? { ...message, content: { ...content, text: linesOf(content.text) } }
    : message;
}

function describePrompt(definition: Readonly<Record<string, unknown>>, item: InspectedItem): LockedItem {
  const { name = item.declaration.name, content } = definition;
  return createItem({
    name,
    ...describeShown(definition),
    content: linesOf(content) ?? (Array.isArray(content) ? content.map(describeMessage) : content),
    runs: describeCode(definition, "handler", item),
    complete: describeComplete(definition, item),
  });
}

/** A resource without what is in its `file`, as a tool without its code. */
function describeResource(definition: Readonly<Record<string, unknown>>, item: InspectedItem): LockedItem {
  const { name = item.declaration.name, uri, uriTemplate, text, file } = definition;
  return createItem({
    name,
    ...describeShown(definition),
    uri,
    uriTemplate,
    file,
    text: linesOf(text),
    runs: describeCode(definition, "handler", item),
    subscribe: describeCode(definition, "subscribe", item),
    complete: describeComplete(definition, item),
  });
}

/**
 * An item of a pack as the lock records it; `undefined` for one without a valid definition. `known`: its entry in the lock,
 * which makes this faster. Throws `UnrecordableError`.
 */
export function describeItem(
  { pack }: Pick<InspectedPack, "pack">,
  item: InspectedItem,
  known?: LockedItem,
): LockedItem | undefined {
  const { definition, shape, declaration } = item;
  if (definition === null || shape === undefined) return undefined;
  switch (declaration.kind) {
    case "tool":
      return describeTool(definition, item, known);
    case "server":
      return shape === "subprocessServer"
        ? describeLaunch(definition)
        : describeComposed(definition, item, pack);
    case "toolset":
      return describeToolset(definition, item, pack);
    case "prompt":
      return describePrompt(definition, item);
    case "resource":
      return describeResource(definition, item);
  }
}

const decidingNames = new Set(
  "PATH NODE_OPTIONS NODE_PATH LD_PRELOAD LD_LIBRARY_PATH PYTHONPATH PYTHONHOME PYTHONSTARTUP RUBYOPT PERL5OPT BASH_ENV ENV JAVA_TOOL_OPTIONS".split(
    " ",
  ),
);

/** Whether a variable decides what runs. On Windows, case does not matter. npm's credentials do not count. */
function decidesWhatRuns(name: string): boolean {
  const upper = name.toUpperCase();
  if (upper.startsWith("NPM_CONFIG_")) return !/AUTH|TOKEN|PASSWORD|USERNAME|EMAIL|OTP|KEY|CERT/.test(upper);
  return decidingNames.has(upper) || upper.startsWith("DYLD_");
}

/**
 * How a server of the config is launched or reached. Values of headers and variables may be secret: those of variables are
 * recorded only if they decide what runs, as the config writes them.
 */
export function describeUserServer(
  { command, package: name, bin, args, cwd, env, url, headers, context }: UserServer,
  version: string | null | undefined,
): LockedServer {
  const launch = createItem({
    command,
    package: name,
    bin,
    args,
    url,
    context,
    cwd: cwd === "." ? undefined : cwd,
    env: Object.keys(env).sort(),
    values: Object.fromEntries(Object.entries(env).filter(([key]) => decidesWhatRuns(key))),
    headers: Object.keys(headers).sort(),
  });
  return { launch, ...(version === undefined ? {} : { version }), lists: null };
}
