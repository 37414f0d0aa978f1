import { type DiscoveryOptions, type FoundPacks, findPacks } from "../discovery/find-packs.ts";
import type { DiscoveredItem, DiscoveredPack, FoundPack } from "../discovery/types.ts";
import type { Confinement, EvaluationPort } from "../io/evaluation-port.ts";
import type { InspectionPort } from "../io/inspection-port.ts";
import type { PackingPort } from "../io/packing-port.ts";
import { type Kind, type KindKey, keyOfKind, kinds } from "../kinds.ts";
import { failure, type Problem } from "../problems/index.ts";
import {
  findNearestNames,
  isPackageName,
  parseQualifiedName,
  resolveReference,
} from "../qualified-names/index.ts";
import { DefinitionLibrary } from "./definition-library.ts";
import { loadDefinitions } from "./load-definitions.ts";
import { type ServerContents, ServerContentsReader } from "./server-contents.ts";
import type { InspectedPack } from "./types.ts";

/** How definitions that are code are treated. */
export interface ConfinementOptions {
  /** Throw `ConfinementUnavailable` rather than evaluate code unconfined. */
  requireConfinement?: boolean;
  /** Refuse definitions that are code. */
  dataOnly?: boolean;
}

export interface InspectionOptions extends Pick<DiscoveryOptions, "cwd" | "global">, ConfinementOptions {
  /** Names of the host's own tools, which definitions may refer to. */
  builtIns?: readonly string[];
}

/** An item with the content of its definition file. */
export interface PackItem extends DiscoveredItem {
  /** `null` where it cannot be used; a function in it appears as `{ "$function": name }`. */
  definition: Record<string, unknown> | null;
  /** Relative to the package, with `/`; `null` where there is none. */
  file: string | null;
}

/** A pack with the definitions of its items. */
export type PackInspection = Omit<DiscoveredPack, KindKey> & Record<KindKey, PackItem[]>;

/** One item with its definition; a server also with what it is composed of. */
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

/** The ports that inspection works through. */
export interface InspectionMeans {
  port: InspectionPort;
  createEvaluator: (options: ConfinementOptions) => Promise<EvaluationPort>;
  createPacking: () => Promise<PackingPort>;
}

/** The pack that counts under an npm name, or its qualified form. */
export function findPackBySubject({ packs }: FoundPacks, subject: string): FoundPack | undefined {
  const copies = packs.filter(({ pack }) => pack.name === subject || pack.qualifiedName === subject);
  return copies.find(({ pack }) => !pack.shadowed) ?? copies[0];
}

/** Says why a name leads to no pack: the package is no pack, or is not there at all. */
export function missingPack(found: FoundPacks, subject: string): Error {
  const asScoped = subject.startsWith("@") || !subject.includes("/") ? subject : `@${subject}`;
  if (found.resolvePackage(asScoped) !== undefined) return failure("ExtensionNotFound", { name: asScoped });
  const names = found.packs.map(({ pack }) => pack.name);
  const items = found.packs.flatMap(({ pack }) => kinds.flatMap((kind) => pack[keyOfKind[kind]]));
  const sameItem = items.filter(({ name }) => name === subject).map(({ qualifiedName }) => qualifiedName);
  const nearest = sameItem.length > 0 ? [...new Set(sameItem)] : findNearestNames(asScoped, names);
  return failure("PackNotInstalled", { name: asScoped, nearest });
}

function loadOptions(means: InspectionMeans, options: InspectionOptions) {
  const { dataOnly = false } = options;
  return { dataOnly, createEvaluator: () => means.createEvaluator(options) };
}

function describeInspectedPack({ pack, items, problems }: InspectedPack): PackInspection {
  const describe = (key: KindKey): PackItem[] =>
    pack[key].map((item) => {
      const inspected = items.find(
        ({ declaration }) => keyOfKind[declaration.kind] === key && declaration.name === item.name,
      );
      return { ...item, definition: inspected?.definition ?? null, file: inspected?.file ?? null };
    });
  return {
    ...pack,
    servers: describe("servers"),
    tools: describe("tools"),
    toolsets: describe("toolsets"),
    prompts: describe("prompts"),
    problems: [...pack.problems, ...problems],
  };
}

/** Inspects an installed pack by npm name, or its qualified form. */
export async function inspectPackWith(
  means: InspectionMeans,
  subject: string,
  options: InspectionOptions = {},
): Promise<PackInspection> {
  const found = await findPacks(means.port, options);
  const pack = findPackBySubject(found, subject);
  if (pack === undefined) throw missingPack(found, subject);
  return describeInspectedPack(await loadDefinitions(means.port, pack, loadOptions(means, options)));
}

async function inspectFoundItem(
  means: InspectionMeans,
  found: FoundPacks,
  { kind, qualifiedName }: { kind: Kind; qualifiedName: string },
  options: InspectionOptions,
): Promise<ItemInspection> {
  const library = new DefinitionLibrary(means.port, found.packs, loadOptions(means, options));
  const [item] = await library.load(kind, [qualifiedName]);
  const owner = found.packs.find(
    ({ pack }) => !pack.shadowed && qualifiedName === `${pack.qualifiedName}/${item?.declaration.name}`,
  );
  if (item === undefined || owner === undefined) throw missingPack(found, qualifiedName);
  const { name, version } = owner.pack;
  const packs = found.packs.map(({ pack }) => pack);
  const reader = new ServerContentsReader(library, packs, options.builtIns ?? []);
  const contents = kind === "server" ? await reader.read(item) : {};
  return {
    kind,
    qualifiedName,
    pack: name,
    version,
    file: item.file,
    definition: item.definition,
    confinement: library.confinement,
    problems: [...library.problems, ...reader.problems],
    ...contents,
  };
}

/** Inspects one item by qualified name. */
export async function inspectItemWith(
  means: InspectionMeans,
  name: string,
  options: InspectionOptions & { kind?: Kind } = {},
): Promise<ItemInspection> {
  const found = await findPacks(means.port, options);
  const packs = found.packs.map(({ pack }) => pack);
  if (name.includes("/")) {
    const { packageName } = parseQualifiedName(name);
    if (!packs.some((pack) => pack.name === packageName)) throw missingPack(found, packageName);
  }
  const resolved = resolveReference(name, { from: "user", kind: options.kind, packs });
  return inspectFoundItem(means, found, resolved, options);
}

/** A pack or an item, whichever a name on a command line means; a pack comes first where both exist. */
export async function inspectSubject(
  means: InspectionMeans,
  subject: string,
  options: InspectionOptions & { kind?: Kind } = {},
): Promise<{ pack: PackInspection } | { item: ItemInspection; found: FoundPacks }> {
  const found = await findPacks(means.port, options);
  const pack = options.kind === undefined ? findPackBySubject(found, subject) : undefined;
  if (pack !== undefined) {
    const inspected = await loadDefinitions(means.port, pack, loadOptions(means, options));
    return { pack: describeInspectedPack(inspected) };
  }
  const isPackOnly = isPackageName(subject) && (subject.startsWith("@") || !subject.includes("/"));
  if (isPackOnly) throw missingPack(found, subject);
  const { packageName, publisher } = parseQualifiedName(subject);
  const packs = found.packs.map((one) => one.pack);
  if (!packs.some(({ name }) => name === packageName)) {
    // Two segments may mean a pack with a scope as well as an item of one without.
    throw missingPack(found, publisher === undefined ? subject : packageName);
  }
  const { kind } = options;
  const resolved = resolveReference(subject, { from: "user", kind, packs });
  return { item: await inspectFoundItem(means, found, resolved, options), found };
}
