/** The kinds of items. */
export type Kind = "server" | "tool" | "toolset" | "prompt" | "resource" | "skill";

/** The kinds whose items have definitions; a skill has a folder. */
export type DefinedKind = Exclude<Kind, "skill">;

/** The key in the `trailblaze` field, and the folder below its root, for the items of a kind. */
export type KindKey = `${Kind}s`;

/** Every kind, in the order in which items are listed. */
export const kinds: readonly Kind[] = ["server", "tool", "toolset", "prompt", "resource", "skill"];

export const definedKinds = kinds.filter((kind): kind is DefinedKind => kind !== "skill");

export const keyOfKind = Object.fromEntries(kinds.map((kind) => [kind, `${kind}s`])) as {
  readonly [Each in Kind]: `${Each}s`;
};

/** A value for each kind, by its key. */
export function byKind<Value>(make: (key: KindKey, kind: Kind) => Value): Record<KindKey, Value> {
  const values = kinds.map((kind) => [keyOfKind[kind], make(keyOfKind[kind], kind)] as const);
  return Object.fromEntries(values) as Record<KindKey, Value>;
}

/** What all kinds have, in their order. */
export const allItems = <Item>(lists: { readonly [Key in KindKey]?: readonly Item[] }): Item[] =>
  kinds.flatMap((kind) => lists[keyOfKind[kind]] ?? []);

/** Reads a kind written in the singular or the plural; `undefined` for any other word. */
export function parseKind(word: string): Kind | undefined {
  return kinds.find((kind) => word === kind || word === keyOfKind[kind]);
}
