import { buffer } from "node:stream/consumers";
import { parseExactly, stringifyExactly } from "../../data/exact-integers.ts";
import { DataSyntaxError, isRecord, parseJson } from "../../data/parse-json.ts";
import { failure, quote } from "../../problems/index.ts";

const hint = `Pass key=value, --args '{"key": "value"}', or --args - to read JSON from stdin.`;

function parseArguments(text: Uint8Array, from: string): Record<string, unknown> {
  const invalid = (reason: string) => failure("InvalidArguments", { reason: `${from} ${reason}`, hint });
  try {
    const { value } = parseJson(text, parseExactly);
    if (isRecord(value)) return value;
  } catch (error) {
    if (!(error instanceof DataSyntaxError)) throw error;
    throw invalid(`is not valid JSON: ${error.message}`);
  }
  throw invalid("must be a JSON object");
}

/** Whether a property takes a word as a string. `depth`: schemas nested deeper, such as cyclic ones, are not searched. */
function acceptsString(schema: unknown, word: string, depth = 20): boolean {
  if (!isRecord(schema) || depth === 0) return false;
  const { type, const: only, enum: values = [only], anyOf = [], oneOf = [] } = schema;
  return (
    [type].flat().includes("string") ||
    [values].flat().includes(word) ||
    [anyOf, oneOf].flat().some((branch) => acceptsString(branch, word, depth - 1))
  );
}

/** The JSON of a word: of a string if the schema of its property accepts one, otherwise the word itself if it is valid JSON. */
function toJson(word: string, schema: unknown): string {
  try {
    if (!acceptsString(schema, word)) return parseJson(Buffer.from(word)).text;
  } catch {
    // It is a string after all.
  }
  return JSON.stringify(word);
}

/** Reads stdin to its end, asynchronously so that Ctrl-C can interrupt it. */
export const readStdin = (): Promise<Uint8Array> => buffer(process.stdin);

/** Throws `InvalidArguments` if there is no key or no `=`. */
export function splitPair(text: string, what: string): [key: string, value: string] {
  const index = text.indexOf("=");
  if (index > 0) return [text.slice(0, index), text.slice(index + 1)];
  throw failure("InvalidArguments", {
    reason: `Expected ${what} as key=value, but got ${quote(text)}`,
  });
}

/**
 * Reads JSON from `--args` (`-` for stdin) and `key=value` words, before a session starts. Returns the arguments for a schema: the
 * JSON, overridden by the words, whose values depend on it. Throws `TrailblazeError` `InvalidArguments`.
 */
export async function readArguments(args: string | undefined, words: readonly string[]) {
  const pairs = words.map((word) => splitPair(word, "an argument"));
  const text = args === "-" ? await readStdin() : Buffer.from(args ?? "{}");
  const base = parseArguments(text, args === "-" ? "The input on stdin" : `--args ${quote(args ?? "")}`);
  return ({ properties }: Readonly<Record<string, unknown>>): Record<string, unknown> => {
    const members = pairs.map(([key, word]) => {
      const schema = isRecord(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
      return `${JSON.stringify(key)}:${toJson(word, schema)}`;
    });
    // Of members with one key, the last counts.
    const json = [stringifyExactly(base).slice(1, -1), ...members].filter((one) => one !== "").join();
    return parseExactly(`{${json}}`) as Record<string, unknown>;
  };
}
