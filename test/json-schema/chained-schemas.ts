export type Schema = Record<string, unknown>;

/** Definitions each of which is made of references to the next one; `a` must be what the first says. */
export function chain(length: number, make: (next: Schema) => Schema): Schema {
  const $defs = Object.fromEntries(
    Array.from({ length: length + 1 }, (_, level) => [
      `d${level}`,
      level === length ? { type: "string", minLength: 5 } : make({ $ref: `#/$defs/d${level + 1}` }),
    ]),
  );
  return { properties: { a: { $ref: "#/$defs/d0" } }, $defs };
}
