import type { Path, Problem } from "../problems/index.ts";
import type { Locate } from "./line-index.ts";
import { memoize } from "./memoize.ts";
import { DataSyntaxError, endOfString, isRecord, parseJson } from "./parse-json.ts";

/** A text, with the format by which positions in it are found; without one, they are unknown. */
export interface SourceText {
  text: string;
  format?: "json" | "yaml" | "code";
}

// They need separate parsers, which are loaded only when there is a problem to locate.
async function createLocator({ text, format }: SourceText): Promise<Locate | undefined> {
  if (format === "json") return (await import("./json-positions.ts")).createJsonLocator(text);
  if (format === "yaml") return (await import("./parse-yaml.ts")).createYamlLocator(text);
  return format && (await import("./line-index.ts")).createCodeLocator(text);
}

/** The locator of a text, created once. Resolves with `undefined` if positions are unknown. */
export const findLocator = memoize(createLocator, new WeakMap());

/** In valid JSON, each key has a colon. */
function countKeysInText(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === 0x22) index = endOfString(text, index) - 1;
    else if (unit === 0x3a) count++;
  }
  return count;
}

function countKeysInValue(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, entry) => sum + countKeysInValue(entry), 0);
  if (!isRecord(value)) return 0;
  const keys = Object.keys(value);
  return keys.reduce((sum, key) => sum + countKeysInValue(value[key]), keys.length);
}

/**
 * Whether an object in a valid JSON text repeats a key. Parsers keep only the last one, so a reader of the text and the
 * program would see different values. `value` is the parsed text.
 */
export function hasDuplicateKeys(text: string, value: unknown): boolean {
  return countKeysInText(text) !== countKeysInValue(value);
}

/** Parses bytes strictly: a duplicate key is an error. Throws `DataSyntaxError`. */
export async function parseSource(
  format: "json" | "yaml",
  bytes: Uint8Array,
): Promise<{ value: unknown; source: SourceText }> {
  const { text, value } =
    format === "json"
      ? parseJson(bytes)
      : (await import("./parse-yaml.ts")).parseYaml(bytes, { refuseMerges: true });
  if (format === "json" && hasDuplicateKeys(text, value)) {
    const [duplicate] = (await import("./json-positions.ts")).findRepeatedKeys(text);
    const reason = `the key ${JSON.stringify(duplicate?.path.at(-1))} is duplicated`;
    throw new DataSyntaxError(reason, text, duplicate?.offset);
  }
  return { value, source: { text, format } };
}

export interface UnlocatedProblem {
  problem: Problem;
  source: SourceText | undefined;
  /** From the top of the text. */
  at: Path;
}

/** Adds line and column to problems: the only function that does. */
export const locateProblems = (found: readonly UnlocatedProblem[]): Promise<Problem[]> =>
  Promise.all(
    found.map(async ({ problem, source, at }) => ({
      ...problem,
      ...(source && (await findLocator(source))?.(at)),
    })),
  );
