import { textOrNull } from "../data/parse-json.ts";
import { type Kind, keyOfKind, kinds } from "../kinds.ts";
import {
  type ReferenceContext,
  type ResolvablePack,
  type ResolvedReference,
  resolveReference,
} from "./resolve-reference.ts";

/** An item of a pack, or a built-in. */
export interface RegistryItem {
  kind: Kind;
  name: string;
  /** For a built-in, its name. */
  qualifiedName: string;
  description: string | null;
  /** npm name; `null` for a built-in. */
  pack: string | null;
  version: string | null;
}

/** Everything that a reference can resolve to: the items of some packs and the host's built-ins. Pure. */
export interface Registry {
  /** Names of the host's built-ins. */
  readonly builtIns: readonly string[];
  /** Every item, built-ins first, then in the order of the packs; items of shadowed copies are excluded. */
  items(kind?: Kind): RegistryItem[];
  /**
   * Resolves a reference from `user` (default) or from a pack of this registry.
   * Throws `TrailblazeError` as `resolveReference` does.
   */
  resolve(reference: string, options?: Pick<Partial<ReferenceContext>, "from" | "kind">): ResolvedReference;
}

const ofHost = { kind: "tool", description: null, pack: null, version: null } as const;

/**
 * Creates a registry of packs, as `discoverPacks` or `inspectPack` return them, and the host's built-ins, by name.
 * Trust level: discovery; nothing is read or run.
 */
export function createRegistry(
  packs: readonly ResolvablePack[],
  { builtIns = [], manager }: Pick<ReferenceContext, "builtIns" | "manager"> = {},
): Registry {
  const counting = packs.filter(({ shadowed }) => shadowed !== true);
  const all: RegistryItem[] = [
    ...builtIns.map((name) => ({ ...ofHost, name, qualifiedName: name })),
    ...counting.flatMap((pack) =>
      kinds.flatMap((kind) =>
        (pack[keyOfKind[kind]] ?? []).map(
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
  return {
    builtIns,
    items(kind) {
      return all.filter((item) => kind === undefined || item.kind === kind);
    },
    resolve(reference, { from = "user", kind } = {}) {
      return resolveReference(reference, { from, kind, packs, builtIns, manager });
    },
  };
}
