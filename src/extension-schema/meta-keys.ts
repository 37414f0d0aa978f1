import { isRecord } from "../data/parse-json.ts";
import { createProblem, type Problem } from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import { describeValue } from "./pointer.ts";

/** The platforms of devices, in the form that sessions compare. */
export const platforms = ["ANDROID", "IOS", "WEB"] as const;

const isText = (value: unknown) => typeof value === "string" && value.trim() !== "";
const isPlatform = (value: unknown) =>
  typeof value === "string" && platforms.some((one) => one === value.toUpperCase());
const isListOf = (isEntry: (value: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every(isEntry);

export const metaTypes = {
  boolean: { expected: "a boolean", isValid: (value: unknown) => typeof value === "boolean" },
  string: { expected: "a string", isValid: isText },
  strings: { expected: "an array of strings", isValid: isListOf(isText) },
  platforms: { expected: "an array of ANDROID, IOS or WEB", isValid: isListOf(isPlatform) },
};

/** The keys that the host reads in a tool's `_meta`. */
export const metaKeys = {
  "trailblaze/isForLlm": {
    type: "boolean",
    fallback: "true",
    description: "Whether models see the tool. If false, only code and other tools can call it.",
  },
  "trailblaze/surfaceToLlm": {
    type: "boolean",
    fallback: "–",
    description: "An alias of `trailblaze/isForLlm`.",
  },
  "trailblaze/isRecordable": {
    type: "boolean",
    fallback: "true",
    description:
      "Whether recordings include the tool's calls. Use false for tools that only delegate to others.",
  },
  "trailblaze/requiresHost": {
    type: "boolean",
    fallback: "false",
    description:
      "Whether the tool needs the agent to run on the host. Sessions with `preferHostAgent: false` exclude it.",
  },
  "trailblaze/supportedDrivers": {
    type: "strings",
    fallback: "all",
    description: "Drivers that the tool supports, compared exactly. An empty array means all.",
  },
  "trailblaze/supportedPlatforms": {
    type: "platforms",
    fallback: "all",
    description: "Platforms that the tool supports, ignoring case. An empty array means all.",
  },
  "trailblaze/toolset": {
    type: "string",
    fallback: "none",
    description: "The toolset that the tool joins. It is created if it does not exist.",
  },
  "trailblaze/requiresContext": {
    type: "boolean",
    fallback: "false",
    description:
      "Whether the tool works only in a session. If true, other MCP clients do not see it; sessions ignore the key.",
  },
} as const satisfies Readonly<
  // The default also applies if the value is invalid. The description is for docs/reference.md.
  Record<string, { type: keyof typeof metaTypes; fallback: string; description: string }>
>;

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

const describeEntries = (list: readonly unknown[]) =>
  `[${list.slice(0, 10).map(describeValue).join(", ")}${list.length > 10 ? ", …" : ""}]`;

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
    const { expected, isValid } = metaTypes[metaKeys[key].type];
    if (isValid(value)) continue;
    const found = Array.isArray(value) ? describeEntries(value) : describeValue(value);
    problems.set(key, createProblem("InvalidMetaValue", { key, expected, found }, place));
  }
  return problems;
}
