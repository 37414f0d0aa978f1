import type { UserServer } from "../config/session-config.ts";
import { isDeeper } from "../data/json-values.ts";
import { isRecord } from "../data/parse-json.ts";
import { readUsableManifest } from "../discovery/manifest.ts";
import { resolveFrom } from "../discovery/package-folders.ts";
import type { DiscoveredPack, FoundPack } from "../discovery/types.ts";
import { findReferences, type WrittenReference, withoutRange } from "../extension-schema/references.ts";
import { shapes } from "../extension-schema/shapes.ts";
import { inspectionPort as port } from "../files/node-inspection-port.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import { keyOfKind, kinds } from "../kinds.ts";
import type { ListedEntry } from "../mcp/client/server-lists.ts";
import { decidesWhatRuns } from "../runtime/server-environment.ts";
import { placeOfCode } from "../runtime/tool-code.ts";
import { digestsOf, filesOf, type SkillFile } from "../skills/skill-entry.ts";
import { type Json, type LockedItem, maximumDepth } from "./json.ts";
import { entryPlace, type LockPart, type LockPlace } from "./parts.ts";

type Definition = Readonly<Record<string, unknown>>;

/** Lines of a text, so that a diff shows which one has changed. Split at LF only, because they are joined again. */
export const linesOf = (text: unknown) => (typeof text === "string" ? text.split("\n") : undefined);

/** An item of these values as JSON, without absent and empty ones; `undefined` if it is nested too deep. */
function createItem(values: Readonly<Record<string, unknown>>): LockedItem | undefined {
  const entries: [string, Json][] = [];
  for (const [key, value] of Object.entries(values)) {
    if (isDeeper(value, maximumDepth)) return undefined;
    const text = JSON.stringify(value);
    if (text !== undefined && text !== "[]" && text !== "{}") entries.push([key, JSON.parse(text) as Json]);
  }
  // A bundle's document may have a key called __proto__.
  return Object.fromEntries(entries);
}

/** The code that a value names, as `./module.js#export`. `path`: its place in the definition. */
function describeCode(value: unknown, path: readonly string[], item: InspectedItem) {
  if (typeof value === "string") return value;
  const place = placeOfCode(value, path, item);
  return place && "file" in place ? `./${place.file}#${place.path.slice(1).join(".")}` : undefined;
}

function describeComplete({ complete }: Definition, item: InspectedItem) {
  const sources = Object.entries(isRecord(complete) ? complete : {}).map(([name, source]) => [
    name,
    Array.isArray(source) ? source : describeCode(source, ["complete", name], item),
  ]);
  return Object.fromEntries(sources);
}

const shownKeys = ["title", "inputSchema", "outputSchema", "arguments", "mimeType", "icons", "execution"];

/** What clients and models see of an item or of an entry of a list, but for what changes with its content. */
function describeShown(shown: Definition): Record<string, unknown> {
  const { description, annotations, _meta } = shown;
  const { lastModified: _, ...constant } = isRecord(annotations) ? annotations : {};
  const kept = Object.fromEntries(shownKeys.map((key) => [key, shown[key]]));
  return { ...kept, description: linesOf(description), annotations: constant, meta: _meta };
}

/** An entry of a server's list; `undefined` if it is nested too deep, or cannot be recorded. */
export function describeListed({ kind, id, entry }: ListedEntry): LockedItem | undefined {
  if (kind === "skill") {
    const { name: _, description, ...frontmatter } = entry.frontmatter;
    // The files of others may change.
    const isLockable = entry.resources !== "dynamic";
    return isLockable ? describeSkill(description, filesOf(entry), frontmatter) : undefined;
  }
  const hasName = kind === "resource" || entry.name !== id;
  return createItem({ name: hasName ? entry.name : undefined, ...describeShown({ ...entry }) });
}

/** A reference of an item as a qualified name, with the kind unless it is a tool. */
export function describeMember({ reference, kind }: WrittenReference, { pack }: InspectedItem): string {
  const name = withoutRange(reference);
  const isOwn = pack?.[keyOfKind[kind]].some((one) => one.name === name);
  const qualified = isOwn ? `${pack?.qualifiedName}/${name}` : name;
  return kind === "tool" ? qualified : `${kind}:${qualified}`;
}

const describeMembers = (item: InspectedItem): string[] =>
  [...new Set(findReferences(item).map((written) => describeMember(written, item)))].sort();

function describeComposed(definition: Definition, item: InspectedItem) {
  const isHttp = definition.transport === "http" || definition.kind === "Mcp.HttpEndpoint";
  const info = item.shape === "serverDocument" ? definition.serverInfo : definition;
  const { name, version } = isRecord(info) ? info : ({} as Definition);
  const { name: ofMetadata } = isRecord(definition.metadata) ? definition.metadata : { name: undefined };
  return createItem({
    name: name ?? ofMetadata,
    version,
    instructions: linesOf(definition.instructions),
    members: describeMembers(item),
    transport: isHttp ? "http" : undefined,
    initialize: describeCode(definition.initialize, ["initialize"], item),
  });
}

function describeLaunch(definition: Definition): LockedItem | undefined {
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
  return launch && { launch, lists: null };
}

const splitAt = (value: unknown, key: string): unknown =>
  isRecord(value) && typeof value[key] === "string" ? { ...value, [key]: linesOf(value[key]) } : value;

function describeBundle(definition: Definition): LockedItem | undefined {
  const { metadata: _, description, entries, ...others } = definition;
  const split = Array.isArray(entries) ? entries.map((entry) => splitAt(entry, "description")) : entries;
  return createItem({ ...others, description: linesOf(description), entries: split });
}

const describeMessage = (message: unknown) =>
  splitAt(isRecord(message) ? { ...message, content: splitAt(message.content, "text") } : message, "content");

function describeUsed(definition: Definition, item: InspectedItem): LockedItem | undefined {
  const { name = item.declaration.name, content, uri, uriTemplate, file, text, options } = definition;
  return createItem({
    name,
    ...describeShown(definition),
    content: linesOf(content) ?? (Array.isArray(content) ? content.map(describeMessage) : content),
    uri,
    uriTemplate,
    file,
    text: linesOf(text),
    runs: describeCode(definition.handler, ["handler"], item),
    initialize: describeCode(definition.initialize, ["initialize"], item),
    subscribe: describeCode(definition.subscribe, ["subscribe"], item),
    complete: describeComplete(definition, item),
    options,
  });
}

/** A skill. Of one that a server lists, the name is in its URI; of a pack's, the front matter is in a file. */
const describeSkill = (
  description: string,
  files: readonly SkillFile[],
  frontmatter?: Readonly<Record<string, unknown>>,
) => createItem({ description: linesOf(description), frontmatter, files: digestsOf(files) });

/** The place of an item of a pack. The name of a skill is its path. */
export const placeOfItem = ({ pack, skill, declaration: { kind, name } }: InspectedItem): LockPlace => ({
  owner: "pack",
  entry: pack?.name ?? "",
  kind,
  name: skill?.path ?? name,
});

/** An item of a pack as the lock records it; `undefined` for one without a valid definition, or that is nested too deep. */
export function describeItem(item: InspectedItem): LockedItem | undefined {
  const { definition, shape, skill } = item;
  if (skill !== undefined) return describeSkill(skill.entry.frontmatter.description, skill.files);
  if (definition === null || shape === undefined) return undefined;
  if (shape === "toolsetList") return createItem({ members: describeMembers(item) });
  if (shape === "toolsBundle") return describeBundle(definition);
  if (shape === "subprocessServer") return describeLaunch(definition);
  return shapes[shape].kind === "server"
    ? describeComposed(definition, item)
    : describeUsed(definition, item);
}

/** The needs that a pack declares, sorted; `undefined` for a pack that declares none. An empty array says that it needs none. */
export function describeNeeds({ extension: { needs } }: FoundPack): LockedItem | undefined {
  if (needs === undefined) return undefined;
  const entries = Object.entries(needs) as [string, readonly string[]][];
  return Object.fromEntries(entries.map(([key, list]) => [key, [...new Set(list)].sort()]));
}

export const runsCode = ({ declaration, shape, definition }: InspectedItem): boolean =>
  declaration.kind === "tool" ||
  shape === "subprocessServer" ||
  shape === "toolsBundle" ||
  definition?.handler !== undefined ||
  definition?.initialize !== undefined ||
  definition?.subscribe !== undefined ||
  Object.values(isRecord(definition?.complete) ? definition.complete : {}).some((one) => !Array.isArray(one));

/** The parts of a pack: its version, its needs and those of some items that can be recorded. */
export function describePack(inspected: InspectedPack, items: readonly InspectedItem[]): LockPart[] {
  const { name: entry, version } = inspected.pack;
  const owner = { owner: "pack", entry } as const;
  const described: [LockPlace, LockedItem | undefined][] = [
    [entryPlace(owner), version === null ? {} : { version }],
    [{ ...owner, kind: "needs", name: "needs" }, describeNeeds(inspected)],
    ...items.map((item): [LockPlace, LockedItem | undefined] => [placeOfItem(item), describeItem(item)]),
  ];
  return described.flatMap(([place, value]) => (value === undefined ? [] : { place, value }));
}

export const placesOf = (pack: DiscoveredPack): LockPlace[] => {
  const owner = { owner: "pack", entry: pack.name } as const;
  const items = kinds.flatMap((kind) =>
    pack[keyOfKind[kind]].map(({ name, path = name }) => ({ ...owner, kind, name: path })),
  );
  return [entryPlace(owner), { ...owner, kind: "needs", name: "needs" }, ...items];
};

/**
 * How a server of the config is launched or reached. Values of headers and variables may be secret: those of variables are
 * recorded only if they decide what runs, as the config writes them.
 */
export function describeUserServer(
  { command, package: name, bin, args, cwd, env, envFile, configEnvFile, url, headers, context }: UserServer,
  version: string | null | undefined,
): LockedItem {
  const launch = createItem({
    command,
    package: name,
    bin,
    args,
    url,
    context,
    cwd: cwd === "." ? undefined : cwd,
    env: Object.keys(env).sort(),
    envFile: configEnvFile && envFile ? [configEnvFile, envFile] : (envFile ?? configEnvFile),
    values: Object.fromEntries(Object.entries(env).filter(([key]) => decidesWhatRuns(key))),
    headers: Object.keys(headers).sort(),
  });
  return { ...(launch && { launch }), ...(version !== undefined && { version }), lists: null };
}

/** The same of an installed one: with the version of its package, `null` if it is unknown. */
export function describeInstalledServer(project: string, server: UserServer): LockedItem {
  if (server.package === undefined) return describeUserServer(server, undefined);
  const { version } = readUsableManifest(port, resolveFrom(port, project, server.package))?.value ?? {};
  return describeUserServer(server, typeof version === "string" ? version : null);
}
