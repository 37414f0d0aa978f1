import type { Random } from "../../bench/support/random.ts";

/** Values that readers of JSON did not expect somewhere. */
const surprises: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1e308,
  2 ** 53,
  0.1,
  "",
  " ",
  "a",
  "__proto__",
  "constructor",
  "../..",
  "/etc/passwd",
  "./x.json",
  "C:\\x",
  "file:///x",
  "\u0000",
  "\u001b[2J",
  "\u202eabc",
  "\ud800",
  "é",
  "${{ 1 }}",
  "${HOME}",
  "x".repeat(300),
  "x".repeat(70_000),
  [],
  [[]],
  [null],
  ["a", "a"],
  {},
  { "": "" },
  { name: "x" },
  { length: 1 },
  JSON.parse('{"then":"x"}'),
  { $ref: "#" },
  { type: "object" },
];

const keys = [
  "__proto__",
  "constructor",
  "toString",
  "then",
  "",
  "name",
  "type",
  "x-y",
  "$ref",
  "日本",
  "a b",
  "\u0000",
];

type Container = Record<string, unknown> | unknown[];
const isContainer = (value: unknown): value is Container => typeof value === "object" && value !== null;

/** Every place of a value: a container and a key in it. */
function placesOf(value: Container): [Container, string][] {
  const places: [Container, string][] = [];
  const open = [value];
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    for (const [key, inner] of Object.entries(container)) {
      places.push([container, key]);
      if (isContainer(inner)) open.push(inner);
    }
  }
  return places;
}

function define(target: Container, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Replaces, removes, adds, renames, nests and exchanges parts of a value. */
export function mutateValue(random: Random, original: unknown): unknown {
  const root = { value: structuredClone(original) };
  for (let count = random.between(1, 4); count > 0; count--) {
    const places = placesOf(root as Container);
    const [target, key] = random.pick(places);
    const value = (target as Record<string, unknown>)[key];
    const kind = random.between(0, 6);
    if (kind === 0 || target === root) define(target, key, structuredClone(random.pick(surprises)));
    else if (kind === 1) delete (target as Record<string, unknown>)[key];
    else if (kind === 2) define(target, random.pick(keys), structuredClone(random.pick(surprises)));
    else if (kind === 3) {
      delete (target as Record<string, unknown>)[key];
      define(target, random.pick(keys), value);
    } else if (kind === 4) {
      const depth = random.chance(0.02) ? 1000 : random.between(1, 3);
      let nested = value;
      for (let level = 0; level < depth; level++) nested = random.chance(0.5) ? [nested] : { nested };
      define(target, key, nested);
    } else if (kind === 5) {
      const [other, otherKey] = random.pick(places);
      // A copy, because a container must not come to hold itself.
      define(target, key, structuredClone((other as Record<string, unknown>)[otherKey]));
    } else if (isContainer(value) && !Array.isArray(value)) {
      for (let index = random.between(1, 300); index > 0; index--) define(value, `key${index}`, index);
    }
  }
  return root.value;
}

const insertions = [
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  '"',
  "\\",
  "\n",
  "\r",
  "\t",
  " ",
  "0",
  "-",
  "e9",
  "null",
  "//",
  "/* */",
  "#",
  "&a ",
  "*a",
  "!!js ",
  "\ufeff",
  "\u0000",
  "\u2028",
  "<<<<<<< HEAD\n",
  "\\ud800",
  "- ",
  "|\n",
];

/** Flips, cuts, repeats and inserts bytes. */
export function mutateBytes(random: Random, original: Uint8Array): Uint8Array {
  let bytes = Buffer.from(original);
  for (let count = random.between(1, 3); count > 0; count--) {
    const at = random.between(0, bytes.length);
    const to = Math.min(bytes.length, at + random.between(0, 40));
    const [head, part, tail] = [bytes.subarray(0, at), bytes.subarray(at, to), bytes.subarray(to)];
    switch (random.between(0, 4)) {
      case 0:
        bytes = Buffer.concat([head, Buffer.from([random.between(0, 255)]), bytes.subarray(at + 1)]);
        break;
      case 1:
        bytes = Buffer.concat([head, tail]);
        break;
      case 2:
        bytes = Buffer.concat([head, part, part, tail]);
        break;
      case 3:
        bytes = Buffer.concat([head, Buffer.from(random.pick(insertions)), tail.length > 0 ? tail : part]);
        break;
      default:
        if (random.chance(0.2)) bytes = Buffer.from(head);
    }
  }
  return bytes;
}

/** JSON of a mutated value, or mutated JSON of the value. */
export function mutateJson(random: Random, original: unknown): Uint8Array {
  const value = random.chance(0.7) ? mutateValue(random, original) : original;
  const indentation = random.pick(["", "  ", "\t"]);
  const bytes = Buffer.from(JSON.stringify(value, null, indentation) ?? "");
  return value === original || random.chance(0.1) ? mutateBytes(random, bytes) : bytes;
}
