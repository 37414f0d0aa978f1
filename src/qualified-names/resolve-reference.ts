import satisfies from "semver/functions/satisfies.js";
import { type Kind, type KindKey, keyOfKind, kinds, parseKind } from "../kinds.ts";
import { failure, listOf, type PackageManager, quote, type TrailblazeError } from "../problems/index.ts";
import { explainInvalidItemName, qualifyPackageName } from "./item-name.ts";
import { findNearestNames } from "./nearest-names.ts";
import { parseQualifiedName, type QualifiedName } from "./qualified-name.ts";

/** The part of a pack that resolution needs; packs of `discoverPacks` have it. */
export type ResolvablePack = {
  /** The name it is installed under. */
  readonly name: string;
  /** The name in its package.json, if that differs. Only its own definitions may use it. */
  readonly packageName?: string;
  readonly version: string | null;
  readonly shadowed?: boolean;
} & ItemLists<{ readonly name: string; readonly qualifiedName: string }>;

/** The items of a pack by kind. Lists that were written for earlier versions have no resources. */
export type ItemLists<Item> = { readonly [Key in Exclude<KindKey, "resources">]: readonly Item[] } & {
  readonly resources?: readonly Item[];
};

/** The items of a pack of one kind, in order. */
export const itemsOf = <Item>(pack: ItemLists<Item>, kind: Kind): readonly Item[] =>
  pack[keyOfKind[kind]] ?? [];

/** What a reference is resolved against. */
export interface ReferenceContext {
  /** The origin of the reference: a user's code, command line or config, or a definition of this pack. */
  from: "user" | ResolvablePack;
  /** The kind to find; without it, any kind if the name is unambiguous. */
  kind?: Kind | undefined;
  packs: readonly ResolvablePack[];
  /** Names of the host's built-ins. */
  builtIns?: readonly string[] | undefined;
  /** The project's package manager, whose commands hints name; default: npm. */
  manager?: PackageManager | undefined;
}

/** A context whose optional built-ins are known. */
type KnownContext = ReferenceContext & { builtIns: readonly string[] };

/** The item that a reference names. */
export interface ResolvedReference {
  kind: Kind;
  /** A built-in's name, without a slash, or a qualified name without a range. */
  qualifiedName: string;
}

/** Reads a kind in the singular or plural. Throws `TrailblazeError` `InvalidArguments` for any other word. */
export function readKind(word: string | undefined): Kind | undefined {
  if (word === undefined) return undefined;
  const kind = parseKind(word);
  if (kind !== undefined) return kind;
  const hint = `Use one of ${listOf(kinds)}.`;
  throw failure("InvalidArguments", { reason: `Unknown kind ${quote(String(word))}`, hint });
}

const notFoundCode = {
  server: "ServerNotFound",
  tool: "ToolNotFound",
  toolset: "ToolsetNotFound",
  prompt: "PromptNotFound",
  resource: "ResourceNotFound",
} as const;

function notFound(
  name: string,
  kind: Kind | undefined,
  nearest: string[],
  otherKind?: Kind,
): TrailblazeError {
  const isAnyKind = kind === undefined;
  return failure(notFoundCode[kind ?? "tool"], { name, otherKind, nearest, isAnyKind });
}

function allQualifiedNames(packs: readonly ResolvablePack[], kind: Kind | undefined): string[] {
  const wanted = kind === undefined ? kinds : [kind];
  return packs.flatMap((pack) =>
    wanted.flatMap((one) => itemsOf(pack, one).map((item) => item.qualifiedName)),
  );
}

const itemIndexes = new WeakMap<ResolvablePack, Map<string, Kind[]>>();

/** The kinds of the items of `pack` with this name. Indexed once per pack, which may have tens of thousands of items. */
function kindsOf(pack: ResolvablePack, item: string): readonly Kind[] {
  let index = itemIndexes.get(pack);
  if (index === undefined) {
    index = new Map();
    for (const kind of kinds) {
      for (const { name } of itemsOf(pack, kind)) index.set(name, [...(index.get(name) ?? []), kind]);
    }
    itemIndexes.set(pack, index);
  }
  return index.get(item) ?? [];
}

function findPack(name: string, { from, packs }: ReferenceContext): ResolvablePack | undefined {
  if (from !== "user" && (from.name === name || from.packageName === name)) return from;
  const copies = packs.filter((pack) => pack.name === name);
  return copies.find(({ shadowed }) => shadowed !== true) ?? copies[0];
}

function resolveInPack(
  reference: string,
  { item }: Pick<QualifiedName, "item">,
  pack: ResolvablePack,
  kind: Kind | undefined,
): ResolvedReference {
  const found = kindsOf(pack, item);
  const qualifiedName = `${qualifyPackageName(pack.name)}/${item}`;
  const [only, ...others] = kind === undefined ? found : found.filter((one) => one === kind);
  if (only === undefined) {
    const wanted = kind === undefined ? kinds : [kind];
    const names = wanted.flatMap((one) => itemsOf(pack, one).map(({ name }) => name));
    const prefix = qualifyPackageName(pack.name);
    const nearest = findNearestNames(item, names).map((name) => `${prefix}/${name}`);
    throw notFound(reference, kind, nearest, found[0]);
  }
  if (others.length > 0) throw failure("AmbiguousName", { name: reference, kinds: found });
  return { kind: only, qualifiedName };
}

function resolveShortName(reference: string, context: KnownContext): ResolvedReference {
  const { from, kind, packs, builtIns } = context;
  if (from !== "user") {
    const found = kindsOf(from, reference).filter((one) => kind === undefined || one === kind);
    if (found.length > 0) return resolveInPack(reference, { item: reference }, from, kind);
  }
  const isBuiltIn = builtIns.includes(reference);
  const mayBeTool = (kind ?? "tool") === "tool";
  if (isBuiltIn && mayBeTool) return { kind: "tool", qualifiedName: reference };

  const ownKind = from === "user" ? undefined : kindsOf(from, reference)[0];
  const otherKind = ownKind ?? (isBuiltIn ? "tool" : undefined);
  const own = from === "user" ? [] : allQualifiedNames([from], kind);
  const candidates = [...own, ...allQualifiedNames(packs, kind)];
  const endingInIt = candidates.filter((name) => name.endsWith(`/${reference}`));
  const ownNames = own.map((name) => name.slice(name.lastIndexOf("/") + 1));
  const shortNames = mayBeTool ? [...ownNames, ...builtIns] : ownNames;
  const nearest = endingInIt.length > 0 ? [...new Set(endingInIt)] : findNearestNames(reference, shortNames);
  throw notFound(reference, kind, nearest, otherKind);
}

/** The pack with an npm name or its qualified form, preferring the copy that is not shadowed. */
function findNamedPack(name: string, packs: readonly ResolvablePack[]): ResolvablePack {
  const copies = packs.filter((pack) => pack.name === name || qualifyPackageName(pack.name) === name);
  const pack = copies.find(({ shadowed }) => shadowed !== true) ?? copies[0];
  if (pack === undefined) throw failure("PackNotInstalled", { name, isWord: true }, { pack: name });
  return pack;
}

/** Callers without types may omit properties, name the pack, or write a kind in the plural. */
function normalizeContext(context: ReferenceContext): KnownContext {
  const { from = "user", packs = [], builtIns = [], kind, manager } = context ?? {};
  const isNamed = typeof from === "string" && from !== "user";
  return {
    from: isNamed ? findNamedPack(from, packs) : from,
    packs,
    builtIns,
    kind: readKind(kind),
    manager,
  };
}

function isShortName(reference: string, { builtIns }: KnownContext): boolean {
  if (typeof reference !== "string" || reference.includes("/")) return false;
  return builtIns.includes(reference) || explainInvalidItemName(reference) === undefined;
}

/**
 * Resolves a reference to an installed item. A user's reference can name built-ins, then qualified names; a pack's can
 * name its own items, then built-ins, then qualified names of other packs. Pure.
 *
 * Throws `TrailblazeError`: `InvalidQualifiedName`, `PackNotInstalled`, `PackVersionMismatch`, `ToolNotFound`
 * (`ServerNotFound`, `ToolsetNotFound`, `PromptNotFound`) with similar names, `AmbiguousName`.
 */
export function resolveReference(reference: string, options: ReferenceContext): ResolvedReference {
  const context = normalizeContext(options);
  if (isShortName(reference, context)) return resolveShortName(reference, context);
  const name = parseQualifiedName(reference);
  const { range } = name;
  const pack = findPack(name.packageName, context);
  if (pack === undefined) {
    const { packageName, item } = name;
    // Two segments may also be the name of a scoped pack without an item.
    if (findPack(`@${packageName}/${item}`, context) !== undefined) {
      throw failure("InvalidQualifiedName", {
        name: reference,
        reason: "it names a pack without an item",
      });
    }
    const nearest = findNearestNames(
      packageName,
      context.packs.map((one) => one.name),
    );
    const missingPack = range === undefined ? packageName : `${packageName}@${range}`;
    const args = { name: packageName, nearest, range, manager: context.manager };
    throw failure("PackNotInstalled", args, { pack: packageName }, { missingPack });
  }
  if (range !== undefined && !satisfies(pack.version ?? "", range)) {
    throw failure("PackVersionMismatch", {
      name: pack.name,
      range,
      version: pack.version ?? "(no version)",
      manager: context.manager,
    });
  }
  return resolveInPack(reference, name, pack, context.kind);
}
