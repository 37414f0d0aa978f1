import { findInConfig, readConfigNames } from "../config/server-entries.ts";
import type { Confinement } from "../confinement/evaluate.ts";
import {
  type DiscoveryOptions,
  type FindOptions,
  type FoundPacks,
  findPacks,
} from "../discovery/find-packs.ts";
import { lookUpSubject } from "../discovery/look-up-pack.ts";
import { resolveFrom } from "../discovery/package-folders.ts";
import { managerIn } from "../discovery/project-manager.ts";
import type { DiscoveredItem, DiscoveredPack, FoundPack } from "../discovery/types.ts";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { type Kind, type KindKey, keyOfKind, kinds } from "../kinds.ts";
import { failure, type Problem, quote, TrailblazeError } from "../problems/index.ts";
import {
  findNearestNames,
  isPackageName,
  parseQualifiedName,
  readKind,
  resolveReference,
} from "../qualified-names/index.ts";
import { DefinitionLibrary } from "./definition-library.ts";
import { isData } from "./formats.ts";
import { type ConfinementOptions, loadDefinitions } from "./load-definitions.ts";
import { type ServerContents, ServerContentsReader } from "./server-contents.ts";
import type { InspectedPack } from "./types.ts";

/** Where packs are looked for, which tools the host provides, and how far definitions that are code are confined. */
export interface InspectionOptions extends Pick<DiscoveryOptions, "cwd" | "global">, ConfinementOptions {
  /** Names of the host's built-ins, to which definitions may refer. */
  builtIns?: readonly string[];
}

/** An item with the content of its definition file. */
export interface PackItem extends DiscoveredItem {
  /** `null` if it is not valid. Functions appear as `{ "$function": name }`. */
  definition: Record<string, unknown> | null;
  /** Relative to the package, with `/`; `null` if there is none. */
  file: string | null;
}

/** A pack with the definitions of its items. */
export type PackInspection = Omit<DiscoveredPack, KindKey> & Record<KindKey, PackItem[]>;

/** An item with its definition, and for a server with its contents. */
export interface ItemInspection extends Partial<ServerContents> {
  kind: Kind;
  qualifiedName: string;
  /** The npm name. */
  pack: string;
  version: string | null;
  file: string | null;
  definition: Record<string, unknown> | null;
  confinement: Confinement;
  problems: Problem[];
}

/** The pack in use with a name or its qualified form. */
export function findPackBySubject(
  { packs }: Pick<FoundPacks, "packs">,
  subject: string,
): FoundPack | undefined {
  const copies = packs.filter(({ pack }) => pack.name === subject || pack.qualifiedName === subject);
  return copies.find(({ pack }) => !pack.shadowed) ?? copies[0];
}

/** The packs of a project, with the one that a caller names, or whose item it names, even if it is not declared. */
export async function findPacksFor(
  port: DiscoveryPort,
  subject: string,
  options: FindOptions,
): Promise<FoundPacks> {
  const found = await findPacks(port, options);
  await lookUpSubject(port, found, subject);
  return found;
}

/** The pack that declares an item with this qualified name. */
export function findOwner({ packs }: FoundPacks, qualifiedName: string): FoundPack | undefined {
  const wanted = qualifiedName.replace(/^@/, "");
  return packs.find(({ pack }) =>
    kinds.some((kind) => pack[keyOfKind[kind]].some((item) => item.qualifiedName === wanted)),
  );
}

/** Checks the argument of callers without types. Throws `TrailblazeError` `InvalidArguments`. */
function expectName(subject: unknown): void {
  if (typeof subject !== "string")
    throw failure("InvalidArguments", { reason: "The name to inspect must be a string" });
}

/**
 * The error for a name without a pack: its package.json is broken, the package is not a pack, the config defines the name,
 * or the pack is not installed. `mayBeTool`: the name may also be that of a tool.
 */
export async function missingPack(
  port: DiscoveryPort,
  found: FoundPacks,
  subject: string,
  { mayBeTool = false } = {},
): Promise<TrailblazeError> {
  // Two segments without @ may be a pack with a scope, or an item of a pack without one.
  const isTwofold = !subject.startsWith("@") && subject.includes("/");
  const asPack = isTwofold ? `@${subject}` : subject;
  const [owner = subject] = subject.split("/");
  for (const name of isTwofold ? [asPack, owner] : [asPack]) {
    const location = resolveFrom(port, found.project, name);
    if (location === undefined) continue;
    const problem = found.broken.get(location);
    return problem === undefined
      ? failure("ExtensionNotFound", { name })
      : new TrailblazeError({ ...problem, severity: "error" });
  }

  const items = found.packs.flatMap(({ pack }) => kinds.flatMap((kind) => pack[keyOfKind[kind]]));
  const names = items.map(({ qualifiedName }) => qualifiedName);
  const endingInIt = names.filter((name) => name.endsWith(`/${subject}`));
  const near = findNearestNames(
    asPack,
    found.packs.map(({ pack }) => pack.name),
  );
  const nearest = endingInIt.length > 0 ? [...new Set(endingInIt)] : near;
  const manager = managerIn(port, found);
  const config = await readConfigNames(port, found.project);
  const inConfig = findInConfig(config, owner);
  if (isTwofold)
    return failure("PackNotInstalled", { name: owner, nearest, alternative: asPack, manager, inConfig });
  const servers = mayBeTool ? config.servers : [];
  // A package whose name happens to be the typed word may be unrelated.
  const isWord = !asPack.startsWith("@");
  return failure("PackNotInstalled", { name: asPack, nearest, manager, inConfig, isWord, servers });
}

function describeInspectedPack({ pack, items, problems }: InspectedPack): PackInspection {
  const byName = new Map(
    items.map((item) => [`${keyOfKind[item.declaration.kind]} ${item.declaration.name}`, item]),
  );
  const describe = (key: KindKey): PackItem[] =>
    pack[key].map((item) => {
      const inspected = byName.get(`${key} ${item.name}`);
      return { ...item, definition: inspected?.definition ?? null, file: inspected?.file ?? null };
    });
  return {
    ...pack,
    servers: describe("servers"),
    tools: describe("tools"),
    toolsets: describe("toolsets"),
    prompts: describe("prompts"),
    resources: describe("resources"),
    problems: [...pack.problems, ...problems],
  };
}

/** Inspects an installed pack by npm name, or its qualified form. */
export async function inspectInstalledPack(
  subject: string,
  options: InspectionOptions = {},
): Promise<PackInspection> {
  expectName(subject);
  const port = createNodeInspectionPort();
  const found = await findPacksFor(port, subject, options);
  const pack = findPackBySubject(found, subject);
  if (pack === undefined) {
    const owner = findOwner(found, subject);
    if (owner === undefined) throw await missingPack(port, found, subject);
    const reason = `${quote(subject, 400)} is an item, not a pack`;
    throw failure("InvalidArguments", { reason, hint: `Pass its pack, ${owner.pack.name}.` });
  }
  return describeInspectedPack(await loadDefinitions(port, pack, options));
}

interface InspectedSubjectItem {
  inspection: ItemInspection;
  /** Reads the tools of a toolset on demand, as servers offer them. */
  readMembers: () => Promise<ServerContents> | undefined;
}

async function inspectFoundItem(
  port: InspectionPort,
  found: FoundPacks,
  { kind, qualifiedName }: { kind: Kind; qualifiedName: string },
  options: InspectionOptions,
): Promise<InspectedSubjectItem> {
  const library = new DefinitionLibrary(port, found, options);
  const [item] = await library.load(kind, [qualifiedName]);
  const owner = found.packs.find(
    ({ pack }) => !pack.shadowed && qualifiedName === `${pack.qualifiedName}/${item?.declaration.name}`,
  );
  if (item === undefined || owner === undefined) throw await missingPack(port, found, qualifiedName);
  const { name, version } = owner.pack;
  const reader = new ServerContentsReader(library, options.builtIns ?? []);
  const contents = kind === "server" ? await reader.read(item) : {};
  const inspection = {
    kind,
    qualifiedName,
    pack: name,
    version,
    file: item.file,
    definition: item.definition,
    // Referenced items may be code; this is the confinement of the item's own file.
    confinement: item.format === undefined || isData(item.format) ? "data" : library.confinement,
    problems: [...library.problems],
    ...contents,
  };
  const readMembers = () => (item.shape === "toolsetList" ? reader.read(item) : undefined);
  return { inspection, readMembers };
}

/** Resolves a reference on a command line or in a user's code. */
async function resolveItem(
  port: DiscoveryPort,
  found: FoundPacks,
  name: string,
  kind: Kind | undefined,
): Promise<{ kind: Kind; qualifiedName: string }> {
  const packs = found.packs.map(({ pack }) => pack);
  if (name.includes("/")) {
    const { packageName, publisher } = parseQualifiedName(name);
    if (!packs.some((pack) => pack.name === packageName)) {
      if (findPackBySubject(found, name) !== undefined)
        throw failure("InvalidQualifiedName", { name, reason: "it names a pack without an item" });
      throw await missingPack(port, found, publisher === undefined ? name : packageName);
    }
  }
  return resolveReference(name, { from: "user", kind, packs, manager: managerIn(port, found) });
}

/** Inspects one item by qualified name. */
export async function inspectInstalledItem(
  name: string,
  options: InspectionOptions & { kind?: Kind } = {},
): Promise<ItemInspection> {
  expectName(name);
  const port = createNodeInspectionPort();
  const kind = readKind(options.kind);
  const found = await findPacksFor(port, name, options);
  const target = await resolveItem(port, found, name, kind);
  return (await inspectFoundItem(port, found, target, options)).inspection;
}

/**
 * Inspects the pack or the item that a name on a command line refers to. Prefers a pack, unless an item of the requested
 * kind exists.
 */
export async function inspectSubject(
  subject: string,
  options: InspectionOptions & { kind?: Kind | undefined } = {},
): Promise<
  { pack: PackInspection } | { item: ItemInspection; readMembers: InspectedSubjectItem["readMembers"] }
> {
  const { kind } = options;
  const port = createNodeInspectionPort();
  const found = await findPacksFor(port, subject, options);
  const pack = findPackBySubject(found, subject);
  const isItem =
    kind !== undefined &&
    found.packs.some((one) =>
      one.pack[keyOfKind[kind]].some(({ qualifiedName }) => qualifiedName === subject),
    );
  if (pack !== undefined && !isItem) {
    const inspected = await loadDefinitions(port, pack, options);
    return { pack: describeInspectedPack(inspected) };
  }
  // One segment is the name of a pack, or with a kind the short name of an item.
  const namesPack = isPackageName(subject) && (subject.startsWith("@") || !subject.includes("/"));
  if (namesPack && (kind === undefined || subject.startsWith("@")))
    throw await missingPack(port, found, subject, { mayBeTool: true });
  const target = await resolveItem(port, found, subject, kind);
  const { inspection, readMembers } = await inspectFoundItem(port, found, target, options);
  return { item: inspection, readMembers };
}
