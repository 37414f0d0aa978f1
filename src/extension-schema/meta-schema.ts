import * as z from "zod/mini";
import { isRecord } from "../data/parse-json.ts";
import { createProblem, type Problem } from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import { describeValue } from "./pointer.ts";
import { name } from "./shared-schema.ts";

/** The platforms of devices, in the form that sessions compare. */
export const platforms = ["ANDROID", "IOS", "WEB"] as const;

/** Spelled out because JSON Schema patterns have no flags. */
export const platformPattern = /^(?:[Aa][Nn][Dd][Rr][Oo][Ii][Dd]|[Ii][Oo][Ss]|[Ww][Ee][Bb])$/;

// Editors complete only the values of an enum.
const platform = z
  .union([z.enum(platforms), z.string().check(z.regex(platformPattern))])
  .register(z.globalRegistry, { title: "ANDROID, IOS or WEB" });

const types = {
  boolean: { expected: "a boolean", schema: z.boolean() },
  string: { expected: "a string", schema: name },
  strings: { expected: "an array of strings", schema: z.array(name) },
  platforms: { expected: "an array of ANDROID, IOS or WEB", schema: z.array(platform) },
};

/** The keys that the host reads in a tool's `_meta`. docs/reference.md says what they mean. */
export const metaKeys = {
  "trailblaze/isForLlm": types.boolean,
  "trailblaze/surfaceToLlm": types.boolean,
  "trailblaze/isRecordable": types.boolean,
  "trailblaze/requiresHost": types.boolean,
  "trailblaze/supportedDrivers": types.strings,
  "trailblaze/supportedPlatforms": types.platforms,
  "trailblaze/toolset": types.string,
  "trailblaze/requiresContext": types.boolean,
};

/** Their schema, from which pages and JSON Schemas are generated. */
export const metaSchema = () =>
  z.partial(
    z.looseObject(Object.fromEntries(Object.entries(metaKeys).map(([key, { schema }]) => [key, schema]))),
  );

export type MetaKey = keyof typeof metaKeys;

/** The prefix of the host's keys. Other prefixes belong to other vendors. */
const metaPrefix = "trailblaze/";

/** Set by the host on served tools, and ignored in definitions. */
export const qualifiedNameKey = "trailblaze/qualifiedName";

const isMetaKey = (key: string): key is MetaKey => Object.hasOwn(metaKeys, key);

/** Suggests a similar key. Compares keys without their common prefix. */
function suggestMetaKey(key: string): string | undefined {
  const words = Object.keys(metaKeys).map((one) => one.slice(metaPrefix.length));
  const [nearest] = findNearestNames(key.slice(metaPrefix.length), words);
  return nearest === undefined ? undefined : `${metaPrefix}${nearest}`;
}

/** The problems of a tool's `_meta` by key: unknown keys of the host, and invalid values, which count as absent. */
export function findMetaProblems(meta: unknown): Map<string, Problem> {
  const problems = new Map<string, Problem>();
  for (const [key, value] of isRecord(meta) ? Object.entries(meta) : []) {
    if (!key.toLowerCase().startsWith(metaPrefix) || key === qualifiedNameKey) continue;
    const place = { path: ["_meta", key] };
    if (!isMetaKey(key)) {
      const args = { key, suggestion: suggestMetaKey(key), known: Object.keys(metaKeys) };
      problems.set(key, createProblem("UnknownMetaKey", args, place));
      continue;
    }
    const { expected, schema } = metaKeys[key];
    if (z.safeParse<z.ZodMiniType>(schema, value).success) continue;
    const found = Array.isArray(value)
      ? `[${value.slice(0, 10).map(describeValue).join(", ")}]`
      : describeValue(value);
    problems.set(key, createProblem("InvalidMetaValue", { key, expected, found }, place));
  }
  return problems;
}
