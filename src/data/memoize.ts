/** Computes a value for each key when it is first asked for, and keeps it: in a `WeakMap` no longer than its key. */
export function memoize<Key, Value>(
  compute: (key: Key) => Value,
  kept: {
    get(key: Key): { value: Value } | undefined;
    set(key: Key, known: { value: Value }): unknown;
  } = new Map(),
): (key: Key) => Value {
  return (key) => {
    const known = kept.get(key) ?? { value: compute(key) };
    kept.set(key, known);
    return known.value;
  };
}

/** Computes a value when it is first asked for. */
export const lazy = <Value>(compute: () => Value): (() => Value) => memoize<void, Value>(compute);
