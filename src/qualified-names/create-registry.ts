import { type Kind, type KindKey, keyOfKind, kinds } from "../kinds.ts";
import {
  findNearestNames,
  type ReferenceContext,
  type ResolvablePack,
  type ResolvedReference,
  readKind,
  resolveReference,
} from "./index.ts";

/** A tool of the host itself: its name, or a definition that has one. */
export type BuiltIn = string | { readonly name: string; readonly description?: unknown };

/** An item of a registry: one of a pack, or a built-in. */
export interface RegistryItem {
  kind: Kind;
  name: string;
  /** A built-in's is its name. */
  qualifiedName: string;
  description: string | null;
  /** npm name; `null` for a built-in. */
  pack: string | null;
  version: string | null;
}

/** What can be referred to: the items of some packs, and the host's own tools. Pure: it knows what it was made from. */
export interface Registry {
  /** Names of the host's own tools. */
  readonly builtIns: readonly string[];
  /** Every item, built-ins first, then in the order of the packs; those of shadowed copies are not among them. */
  items(kind?: Kind): RegistryItem[];
  /**
   * What a reference leads to, from where it stands: `user` (default), or a pack of this registry.
   * Throws `TrailblazeError` as `resolveReference` does.
   */
  resolve(
    reference: string,
    options?: Pick<Partial<ReferenceContext>, "from" | "kind" | "suggestions">,
  ): ResolvedReference;
  /** The item that `resolve` leads to. Throws as it does. */
  get(reference: string, options?: Pick<Partial<ReferenceContext>, "from" | "kind">): RegistryItem;
  /** Qualified names and built-ins near to a name, best first. */
  suggest(name: string, kind?: Kind): string[];
}

/** A pack whose items may be described. */
type DescribedPack = Omit<ResolvablePack, KindKey> & {
  readonly [Key in KindKey]: readonly {
    readonly name: string;
    readonly qualifiedName: string;
    readonly description?: unknown;
  }[];
};

const textOrNull = (value: unknown) => (typeof value === "string" ? value : null);

function describeBuiltIn(builtIn: BuiltIn): RegistryItem {
  const [name, description] =
    typeof builtIn === "string" ? [builtIn, null] : [builtIn.name, textOrNull(builtIn.description)];
  return { kind: "tool", name, qualifiedName: name, description, pack: null, version: null };
}

/**
 * Puts packs, as `discoverPacks` or `inspectPack` return them, and the host's own tools into one registry.
 * Trust level: discovery; nothing is read or run.
 */
export function createRegistry(
  packs: readonly DescribedPack[],
  { builtIns = [], manager }: { builtIns?: readonly BuiltIn[]; manager?: ReferenceContext["manager"] } = {},
): Registry {
  const own = builtIns.map(describeBuiltIn);
  const names = own.map(({ name }) => name);
  const counting = packs.filter(({ shadowed }) => shadowed !== true);
  const all = [
    ...own,
    ...counting.flatMap((pack) =>
      kinds.flatMap((kind) =>
        pack[keyOfKind[kind]].map(
          ({ name, qualifiedName, description }): RegistryItem => ({
            kind,
            name,
            qualifiedName,
            description: textOrNull(description),
            pack: pack.name,
            version: pack.version,
          }),
        ),
      ),
    ),
  ];
  const byName = new Map(all.map((item) => [`${item.kind} ${item.qualifiedName}`, item]));
  const registry: Registry = {
    builtIns: names,
    items(kind) {
      const wanted = readKind(kind);
      return wanted === undefined ? [...all] : all.filter((item) => item.kind === wanted);
    },
    resolve(reference, { from = "user", kind, suggestions } = {}) {
      return resolveReference(reference, { from, kind, packs, builtIns: names, manager, suggestions });
    },
    get(reference, options) {
      const { kind, qualifiedName } = registry.resolve(reference, options);
      const item = byName.get(`${kind} ${qualifiedName}`);
      if (item === undefined) throw new Error(`${qualifiedName} was resolved and is not there`);
      return item;
    },
    suggest(name, kind) {
      const candidates = registry.items(kind).map(({ qualifiedName }) => qualifiedName);
      const endingInIt = candidates.filter((one) => one.endsWith(`/${name}`));
      return endingInIt.length > 0 ? endingInIt : findNearestNames(name, candidates);
    },
  };
  return registry;
}
