import type { Path, Problem } from "../problems/index.ts";
import { DataSyntaxError } from "./decode.ts";
import { hasDuplicateKeys } from "./duplicate-keys.ts";
import { parseJson } from "./parse-json.ts";

// Positions need separate parsers, which are loaded only when there is a problem to locate.
const positions = () => import("./json-positions.ts");

/** Line and column, both from 1, of the value at a path (at its key, if it has one). */
export type Locate = (path: Path) => { line: number; column: number };

/** A text that problems can point into. */
export interface SourceText {
  text: string;
  /** Resolves with `undefined` if positions are unknown. */
  createLocator: () => Promise<Locate | undefined>;
}

export function createJsonSource(text: string): SourceText {
  return { text, createLocator: async () => (await positions()).createJsonLocator(text) };
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

/** A problem and the value in a text that it concerns. */
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
