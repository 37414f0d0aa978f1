import satisfies from "semver/functions/satisfies.js";
import { memoize } from "../data/memoize.ts";
import { type Kind, type KindKey, keyOfKind, kinds, parseKind } from "../kinds.ts";
import { failure, listOf, type PackageManager, quote, type TrailblazeError } from "../problems/index.ts";
import { explainInvalidItemName, qualifyPackageName } from "./item-name.ts";
import { findNearestNames } from "./nearest-names.ts";
import { parseQualifiedName } from "./qualified-name.ts";

interface NamedItem {
  readonly name: string;
  readonly qualifiedName: string;
  readonly description?: unknown;
}

/** The part of a pack that resolution needs; packs of `discoverPacks` have it. */
export type ResolvablePack = {
  /** The name it is installed under. */
  readonly name: string;
  /** The name in its package.json, if that differs. Only its own definitions may use it. */
  readonly packageName?: string;
  readonly version: string | null;
  readonly shadowed?: boolean;
} & { readonly [Key in KindKey]?: readonly NamedItem[] };

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

export const notFoundCode = {
  server: "ServerNotFound",
  tool: "ToolNotFound",
  toolset: "ToolsetNotFound",
  prompt: "PromptNotFound",
  resource: "ResourceNotFound",
  skill: "SkillNotFound",
} as const;

function notFound(
  name: string,
  kind: Kind | undefined,
  nearest: readonly string[],
  otherKind?: Kind,
): TrailblazeError {
  const args = { name, otherKind, nearest: [...new Set(nearest)], isAnyKind: kind === undefined };
  return failure(notFoundCode[kind ?? "tool"], args);
}

const itemsOf = (pack: ResolvablePack, kind: Kind | undefined): NamedItem[] =>
  (kind === undefined ? kinds : [kind]).flatMap((one) => pack[keyOfKind[one]] ?? []);

/** The kinds of items by name. Indexed once per pack, which may have thousands of items. */
const indexKinds = memoize((pack: ResolvablePack) => {
  const index = new Map<string, Kind[]>();
  for (const kind of kinds)
    for (const { name } of itemsOf(pack, kind)) index.set(name, [...(index.get(name) ?? []), kind]);
  return index;
}, new WeakMap());

const kindsOf = (pack: ResolvablePack, item: string): readonly Kind[] => indexKinds(pack).get(item) ?? [];

function findPack(name: string, { from, packs }: ReferenceContext): ResolvablePack | undefined {
  if (from !== "user" && (from.name === name || from.packageName === name)) return from;
  const copies = packs.filter((pack) => pack.name === name);
  return copies.find(({ shadowed }) => shadowed !== true) ?? copies[0];
}

function resolveInPack(
  reference: string,
  item: string,
  pack: ResolvablePack,
  kind: Kind | undefined,
): ResolvedReference {
  const found = kindsOf(pack, item);
  const prefix = qualifyPackageName(pack.name);
  const [only, ...others] = found.filter((one) => kind === undefined || one === kind);
  if (only === undefined) {
    const names = itemsOf(pack, kind).map(({ name }) => name);
    const nearest = findNearestNames(item, names).map((name) => `${prefix}/${name}`);
    throw notFound(reference, kind, nearest, found[0]);
  }
  if (others.length > 0) throw failure("AmbiguousName", { name: reference, kinds: found });
  return { kind: only, qualifiedName: `${prefix}/${item}` };
}

function resolveShortName(
  reference: string,
  { from, kind, packs, builtIns = [] }: ReferenceContext,
): ResolvedReference {
  const own = from === "user" ? undefined : from;
  const ownKinds = own === undefined ? [] : kindsOf(own, reference);
  if (own !== undefined && ownKinds.some((one) => kind === undefined || one === kind))
    return resolveInPack(reference, reference, own, kind);
  const mayBeTool = (kind ?? "tool") === "tool";
  const isBuiltIn = builtIns.includes(reference);
  if (isBuiltIn && mayBeTool) return { kind: "tool", qualifiedName: reference };

  const ownItems = own === undefined ? [] : itemsOf(own, kind);
  const names = [...ownItems, ...packs.flatMap((pack) => itemsOf(pack, kind))];
  const endingInIt = names.filter(({ name }) => name === reference).map((item) => item.qualifiedName);
  const shortNames = [...ownItems.map(({ name }) => name), ...(mayBeTool ? builtIns : [])];
  const nearest = endingInIt.length > 0 ? endingInIt : findNearestNames(reference, shortNames);
  throw notFound(reference, kind, nearest, ownKinds[0] ?? (isBuiltIn ? "tool" : undefined));
}

/**
 * Resolves a reference to an installed item. A user's reference can name built-ins, then qualified names; a pack's can
 * name its own items, then built-ins, then qualified names of other packs. Pure.
 *
 * Throws `TrailblazeError`: `InvalidQualifiedName`, `PackNotInstalled`, `PackVersionMismatch`, `ToolNotFound`
 * (`ServerNotFound`, `ToolsetNotFound`, `PromptNotFound`) with similar names, `AmbiguousName`.
 */
export function resolveReference(reference: string, options: ReferenceContext): ResolvedReference {
  const context = { ...options, kind: readKind(options.kind) };
  const isShort =
    typeof reference === "string" &&
    !reference.includes("/") &&
    (context.builtIns?.includes(reference) || explainInvalidItemName(reference) === undefined);
  if (isShort) return resolveShortName(reference, context);
  const name = parseQualifiedName(reference);
  const { range } = name;
  const pack = findPack(name.packageName, context);
  if (pack === undefined) {
    const { packageName, item } = name;
    // Two segments may also be the name of a scoped pack without an item.
    if (findPack(`@${packageName}/${item}`, context) !== undefined)
      throw failure("InvalidQualifiedName", { name: reference, reason: "it names a pack without an item" });
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
  return resolveInPack(reference, name.item, pack, context.kind);
}
