import { quote } from "../problems/index.ts";
import { describeWritten } from "./pointer.ts";

/** What the value of a key must be. */
export type MetaType = "boolean" | "string" | "strings" | "platforms";

interface MetaKeyInfo {
  type: MetaType;
  /** What holds where the key is absent or its value is wrong. */
  fallback: string;
  /** For the reference, docs/reference.md. */
  description: string;
}

/** What the host reads in `_meta` of a tool. */
export const metaKeys = {
  "trailblaze/isForLlm": {
    type: "boolean",
    fallback: "true",
    description: "Models see the tool. Where false, only code and other tools call it.",
  },
  "trailblaze/surfaceToLlm": {
    type: "boolean",
    fallback: "–",
    description: "Another name of `trailblaze/isForLlm`.",
  },
  "trailblaze/isRecordable": {
    type: "boolean",
    fallback: "true",
    description: "Recordings keep the tool's calls: false for tools that only pass them on to others.",
  },
  "trailblaze/requiresHost": {
    type: "boolean",
    fallback: "false",
    description: "Needs the agent to run on the host: left out of sessions whose `preferHostAgent` is false.",
  },
  "trailblaze/supportedDrivers": {
    type: "strings",
    fallback: "all",
    description: "Drivers that the tool works with, compared exactly. Empty: all.",
  },
  "trailblaze/supportedPlatforms": {
    type: "platforms",
    fallback: "all",
    description: "Platforms that the tool works on, in capitals or not. Empty: all.",
  },
  "trailblaze/toolset": {
    type: "string",
    fallback: "none",
    description: "Toolset that the tool joins; it is made where it is missing.",
  },
  "trailblaze/requiresContext": {
    type: "boolean",
    fallback: "false",
    description:
      "Of no use outside a session: other MCP clients do not see it. In a session it filters nothing.",
  },
} as const satisfies Readonly<Record<string, MetaKeyInfo>>;

export type MetaKey = keyof typeof metaKeys;

/** Begins every key that the host reads; the others belong to other vendors. */
export const metaPrefix = "trailblaze/";

/** The host's own: written where tools are served, ignored where a definition has it. */
export const qualifiedNameKey = "trailblaze/qualifiedName";

/** What a device can be, in the form in which sessions compare it. */
export const platforms = ["ANDROID", "IOS", "WEB"] as const;

export const isMetaKey = (key: string): key is MetaKey => Object.hasOwn(metaKeys, key);

const isNonEmptyString = (value: unknown) => typeof value === "string" && value.trim() !== "";

interface MetaRule {
  expected: string;
  /** Whether the value is right; of a list, whether each of its entries is. */
  isRight: (value: unknown) => boolean;
  isList?: true;
}

const rules: Readonly<Record<MetaType, MetaRule>> = {
  boolean: { expected: "true or false", isRight: (value) => typeof value === "boolean" },
  string: { expected: "a text", isRight: isNonEmptyString },
  strings: { expected: "a list of texts", isRight: isNonEmptyString, isList: true },
  platforms: {
    expected: "a list of ANDROID, IOS or WEB",
    isRight: (value) => typeof value === "string" && platforms.some((one) => one === value.toUpperCase()),
    isList: true,
  },
};

function describe(value: unknown): string {
  if (typeof value !== "string") return describeWritten(value);
  return value.trim() === "" ? "an empty text" : `the text ${quote(value, 40)}`;
}

/** What the value of a key must be, in words. */
export const expectedOf = (key: MetaKey): string => rules[metaKeys[key].type].expected;

/** What the value of a key must be and what it is instead; `undefined` where it is right. */
export function findMetaFault(key: MetaKey, value: unknown): { expected: string; found: string } | undefined {
  const { expected, isRight, isList } = rules[metaKeys[key].type];
  if (!isList) return isRight(value) ? undefined : { expected, found: describe(value) };
  if (!Array.isArray(value)) return { expected, found: describe(value) };
  const wrong = value.findIndex((entry) => !isRight(entry));
  return wrong < 0 ? undefined : { expected, found: `a list with ${describe(value[wrong])}` };
}
