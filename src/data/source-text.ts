import type { Path, Problem } from "../problems/index.ts";
import { DataSyntaxError } from "./decode.ts";
import { hasDuplicateKeys } from "./duplicate-keys.ts";
import { parseJson } from "./parse-json.ts";

// Positions need parsers of their own, which are loaded only where something is wrong.
const positions = () => import("./json-positions.ts");

/** Line and column, both from 1, of the value at a path of a text; of its key, where it has one. */
export type Locate = (path: Path) => { line: number; column: number };

/** A text that problems can point into. */
export interface SourceText {
  text: string;
  /** Resolves with `undefined` where no position is known. */
  createLocator: () => Promise<Locate | undefined>;
}

export function createJsonSource(text: string): SourceText {
  return { text, createLocator: async () => (await positions()).createJsonLocator(text) };
}

/** Parses bytes as data, strictly; a key that an object has twice is an error. Throws `DataSyntaxError`. */
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
    const duplicate = (await positions()).findDuplicateKey(text);
    const reason = `the key ${JSON.stringify(duplicate?.key ?? "")} is there twice`;
    throw new DataSyntaxError(reason, text, duplicate?.offset);
  }
  return { value, source: createJsonSource(text) };
}

/** A problem, and the value in a text that it is about. */
export interface UnlocatedProblem {
  problem: Problem;
  source: SourceText | undefined;
  /** From the top of the text. */
  at: Path;
}

/** The only way in which problems get line and column; makes each text's locator once. */
export async function locateProblems(found: readonly UnlocatedProblem[]): Promise<Problem[]> {
  const locators = new Map<SourceText, Locate | undefined>();
  for (const { source } of found) {
    if (source !== undefined && !locators.has(source)) locators.set(source, await source.createLocator());
  }
  return found.map(({ problem, source, at }) => ({
    ...problem,
    ...(source === undefined ? undefined : locators.get(source)?.(at)),
  }));
}
