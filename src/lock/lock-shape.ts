// The shape of a lock, as far as the rest of the program relies on it. Not by zod, which passes over keys called `__proto__`:
// a tool of a server may be called so.
import { isRecord } from "../data/parse-json.ts";
import type { Path } from "../problems/index.ts";
import { ownEntry } from "./json.ts";

/** Where a value does not have the shape; `undefined` for one that has it. */
type Shape = (value: unknown) => Path | undefined;

const shapeOf =
  (isValid: (value: unknown) => boolean): Shape =>
  (value) =>
    isValid(value) ? undefined : [];

/** An object with values of these shapes by key, and of `others`. */
const objectOf =
  (shapes: Readonly<Record<string, Shape>>, others: Shape, required: readonly string[] = []): Shape =>
  (value) => {
    if (!isRecord(value)) return [];
    const missing = required.find((key) => !Object.hasOwn(value, key));
    if (missing !== undefined) return [missing];
    for (const [key, inner] of Object.entries(value)) {
      const path = (ownEntry(shapes, key) ?? others)(inner);
      if (path !== undefined) return [key, ...path];
    }
    return undefined;
  };

const isText = (value: unknown) => typeof value === "string";
const anything = shapeOf(() => true);
const nothing = shapeOf(() => false);
const object = shapeOf(isRecord);
const items = objectOf({}, object);
const version = shapeOf((value) => value === null || isText(value));
const denied = shapeOf((value) => Array.isArray(value) && value.every(isText));

const server = objectOf(
  {
    version,
    denied,
    launch: object,
    lists: (value) => (value === null ? undefined : items(value)),
    prompts: items,
    resources: items,
    skills: items,
  },
  anything,
);

const pack = objectOf(
  {
    version,
    surface: shapeOf(isText),
    denied,
    needs: object,
    tools: items,
    servers: objectOf({}, server),
    toolsets: items,
    prompts: items,
    resources: items,
    skills: items,
  },
  nothing,
);

/** Where a value does not have the shape of a lock. */
export const findMisshapen: Shape = objectOf(
  {
    lockfileVersion: shapeOf((value) => value === 1),
    packs: objectOf({}, pack),
    servers: objectOf({}, server),
  },
  nothing,
  ["lockfileVersion", "packs", "servers"],
);
