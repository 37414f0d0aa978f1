import { readConfigNames } from "../config/server-entries.ts";
import type { Confinement } from "../confinement/evaluate.ts";
import {
  type DiscoveryOptions,
  type FindOptions,
  type FoundPacks,
  findPacks,
} from "../discovery/find-packs.ts";
import { lookUpSubject } from "../discovery/look-up-pack.ts";
import { resolveFrom } from "../discovery/package-folders.ts";
import { declaredDependencies } from "../discovery/project.ts";
import { managerIn } from "../discovery/project-manager.ts";
import type { DiscoveredItem, DiscoveredPack, FoundPack } from "../discovery/types.ts";
import { inspectionPort as port } from "../files/node-inspection-port.ts";
import { allItems, byKind, type Kind, type KindKey, keyOfKind } from "../kinds.ts";
import { failure, type Problem, quote, TrailblazeError } from "../problems/index.ts";
import { isPackageName } from "../qualified-names/item-name.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import { parseQualifiedName } from "../qualified-names/qualified-name.ts";
import { resolveReference } from "../qualified-names/resolve-reference.ts";
import type { Skill } from "../skills/read-skill.ts";
import { type ConfinementOptions, createLibrary, loadDefinitions } from "./load-definitions.ts";
import { readContents, type ServerContents } from "./server-contents.ts";

/** Where packs are looked for, which tools the host provides, and how far definitions that are code are confined. */
export interface InspectionOptions extends Pick<DiscoveryOptions, "cwd">, ConfinementOptions {
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

/** An item with its definition, for a server with its contents, and for a skill with its files and the text of SKILL.md. */
export interface ItemInspection
  extends Partial<ServerContents>,
    Partial<Pick<Skill, "path" | "files" | "text">> {
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

export function findPackBySubject({ packs }: FoundPacks, subject: string): FoundPack | undefined {
  const copies = packs.filter(({ pack }) => pack.name === subject || pack.qualifiedName === subject);
  return copies.find(({ pack }) => !pack.shadowed) ?? copies[0];
}

/** The packs of a project, with the one that a caller names, or whose item it names, even if it is not declared. */
export async function findPacksFor(subject: string, options: FindOptions): Promise<FoundPacks> {
  const found = await findPacks(port, options);
  await lookUpSubject(port, found, subject);
  return found;
}

export function findOwner({ packs }: FoundPacks, qualifiedName: string): FoundPack | undefined {
  const wanted = qualifiedName.replace(/^@/, "");
  return packs.find(({ pack }) => allItems(pack).some((item) => item.qualifiedName === wanted));
}

/**
 * The error for a name without a pack: its package.json is broken, the package is not a pack, the config defines the name,
 * or the pack is not installed.
 */
export async function missingPack(found: FoundPacks, subject: string): Promise<TrailblazeError> {
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

  const items = found.packs.flatMap(({ pack }) => allItems(pack));
  const endingInIt = items.filter(({ name }) => name === subject).map((item) => item.qualifiedName);
  const packNames = found.packs.map(({ pack }) => pack.name);
  const nearest = endingInIt.length > 0 ? [...new Set(endingInIt)] : findNearestNames(asPack, packNames);
  const manager = managerIn(port, found.workspace);
  const inConfig = (await readConfigNames(port, found.project)).kindOf(owner);
  const isDeclared = declaredDependencies(found.workspace.project.manifest).has(asPack);
  if (isTwofold && !isDeclared)
    return failure("PackNotInstalled", { name: owner, nearest, alternative: asPack, manager, inConfig });
  // A package whose name happens to be the typed word may be unrelated.
  const isWord = !asPack.startsWith("@");
  const args = { name: asPack, nearest, manager, inConfig, isWord, isDeclared };
  if (isWord) return failure("PackNotInstalled", args);
  return failure("PackNotInstalled", args, { pack: asPack }, { missingPack: asPack });
}

/** The pack that a name refers to. Throws `TrailblazeError`, `InvalidArguments` for an item. */
export async function requirePack(found: FoundPacks, subject: string): Promise<FoundPack> {
  const pack = findPackBySubject(found, subject);
  if (pack !== undefined) return pack;
  const owner = findOwner(found, subject);
  if (owner === undefined) throw await missingPack(found, subject);
  const reason = `${quote(subject, 400)} is an item, not a pack`;
  throw failure("InvalidArguments", { reason, hint: `Pass its pack, ${owner.pack.name}.` });
}

export async function inspectFoundPack(
  found: FoundPack,
  options: InspectionOptions,
): Promise<PackInspection> {
  const { pack, items, problems } = await loadDefinitions(port, found, options);
  // In the order of what the pack declares.
  const inspected = items.values();
  const described = byKind((key) =>
    pack[key].map((item): PackItem => {
      const { definition = null, file = null } = inspected.next().value ?? {};
      return { ...item, definition, file };
    }),
  );
  return { ...pack, ...described, problems: [...pack.problems, ...problems] };
}

/**
 * Inspects an item that a reference on a command line or in a user's code names. `readMembers` reads the tools of a toolset on
 * demand, as servers offer them.
 */
export async function inspectFoundItem(
  found: FoundPacks,
  reference: string,
  { kind, ...options }: InspectionOptions & { kind?: Kind | undefined },
): Promise<{ item: ItemInspection; readMembers: () => Promise<ServerContents> | undefined }> {
  const target = await resolveItem(found, reference, kind);
  const library = createLibrary(port, found, options);
  const [inspected] = await library.load(target.kind, [target.qualifiedName]);
  const owner = inspected?.pack;
  if (inspected === undefined || owner === undefined) throw await missingPack(found, target.qualifiedName);
  const host = { library, builtIns: options.builtIns ?? [] };
  const contents = target.kind === "server" ? await readContents(host, inspected) : {};
  const { path, files, text } = inspected.skill ?? {};
  const item = {
    ...target,
    pack: owner.name,
    version: owner.version,
    file: inspected.file,
    definition: inspected.definition,
    confinement: inspected.confinement,
    problems: [...library.problems],
    ...contents,
    ...(inspected.skill && { path, files, text }),
  };
  const isList = inspected.shape === "toolsetList";
  return { item, readMembers: () => (isList ? readContents(host, inspected) : undefined) };
}

async function resolveItem(found: FoundPacks, name: string, kind: Kind | undefined) {
  const packs = found.packs.map(({ pack }) => pack);
  try {
    return resolveReference(name, { from: "user", kind, packs, manager: managerIn(port, found.workspace) });
  } catch (error) {
    if (!(error instanceof TrailblazeError) || error.code !== "PackNotInstalled") throw error;
    const { packageName, publisher } = parseQualifiedName(name);
    throw await missingPack(found, publisher === undefined ? name : packageName);
  }
}

/**
 * Inspects the pack or the item that a name on a command line refers to. Prefers a pack, unless an item of the requested
 * kind exists.
 */
export async function inspectSubject(
  subject: string,
  options: InspectionOptions & { kind?: Kind | undefined },
): Promise<{ pack: PackInspection } | Awaited<ReturnType<typeof inspectFoundItem>>> {
  const { kind } = options;
  const found = await findPacksFor(subject, options);
  const pack = findPackBySubject(found, subject);
  const isItem = found.packs.some(
    (one) => kind && one.pack[keyOfKind[kind]].some(({ qualifiedName }) => qualifiedName === subject),
  );
  if (pack !== undefined && !isItem) return { pack: await inspectFoundPack(pack, options) };
  // One segment is the name of a pack, or with a kind the short name of an item.
  const namesPack = isPackageName(subject) && (subject.startsWith("@") || !subject.includes("/"));
  if (namesPack && (kind === undefined || subject.startsWith("@"))) throw await missingPack(found, subject);
  return inspectFoundItem(found, subject, options);
}
