import { buffer } from "node:stream/consumers";
import { carryIntegers, parseExactly, rememberInteger } from "../../data/exact-integers.ts";
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

/** The value of a word: a string if the schema of its property accepts one, otherwise JSON if the word is valid JSON. */
function readValue(word: string, schema: unknown): unknown {
  if (acceptsString(schema, word)) return word;
  try {
    return parseJson(Buffer.from(word), parseExactly).value;
  } catch {
    return word;
  }
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
    const values = pairs.map(([key, word]) => {
      const schema = isRecord(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
      return [key, readValue(word, schema)] as const;
    });
    const read = carryIntegers(base, Object.fromEntries([...Object.entries(base), ...values]));
    for (const [key, word] of pairs) rememberInteger(read, key, word.trim());
    return read;
  };
}
