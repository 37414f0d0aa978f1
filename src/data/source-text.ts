import type { Path, Problem } from "../problems/index.ts";
import { DataSyntaxError, endOfString, isRecord, parseJson } from "./parse-json.ts";

// Positions need separate parsers, which are loaded only when there is a problem to locate.
const positions = () => import("./json-positions.ts");

/** Line and column, both from 1, of the value at a path (at its key, if it has one). */
export type Locate = (path: Path) => { line: number; column: number };

export interface SourceText {
  text: string;
  /** Resolves with `undefined` if positions are unknown. */
  createLocator: () => Promise<Locate | undefined>;
}

export function createJsonSource(text: string): SourceText {
  return { text, createLocator: async () => (await positions()).createJsonLocator(text) };
}

function countKeysInText(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) !== 0x22) continue;
    index = endOfString(text, index);
    while (index < text.length && " \t\r\n".includes(text.charAt(index))) index++;
    if (text.charCodeAt(index) === 0x3a) count++;
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
  if (format === "yaml") {
    const { parseYaml } = await import("./parse-yaml.ts");
    const { text, value, locate } = parseYaml(bytes, { refuseMerges: true });
    return { value, source: { text, createLocator: async () => locate } };
  }
  const { text, value } = parseJson(bytes);
  if (hasDuplicateKeys(text, value)) {
    const [duplicate] = (await positions()).findRepeatedKeys(text);
    const reason = `the key ${JSON.stringify(duplicate?.path.at(-1))} is duplicated`;
    throw new DataSyntaxError(reason, text, duplicate?.offset);
  }
  return { value, source: createJsonSource(text) };
}

export interface UnlocatedProblem {
  problem: Problem;
  source: SourceText | undefined;
  /** From the top of the text. */
  at: Path;
}

/** Adds line and column to problems: the only function that does. Creates one locator per text. */
export async function locateProblems(found: readonly UnlocatedProblem[]): Promise<Problem[]> {
  const locators = new Map<SourceText | undefined, Locate | undefined>();
  for (const { source } of found) {
    if (source !== undefined && !locators.has(source)) locators.set(source, await source.createLocator());
  }
  return found.map(({ problem, source, at }) => ({
    ...problem,
    ...locators.get(source)?.(at),
  }));
}
