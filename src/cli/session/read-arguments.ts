import { carryIntegers, parseExactly, rememberInteger } from "../../data/exact-integers.ts";
import { DataSyntaxError, isRecord, parseJson } from "../../data/parse-json.ts";
import { failure, quote } from "../../problems/index.ts";
import { splitPair } from "./session-command.ts";

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

/** The arguments of a call before the tool is known. The value of a word depends on the tool's schema. */
export interface GivenArguments {
  base: Readonly<Record<string, unknown>>;
  words: readonly (readonly [key: string, word: string])[];
}

/** Reads stdin to its end, asynchronously so that Ctrl-C can interrupt it. */
export async function readStdin(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/**
 * Reads JSON from `--args` (`-` for stdin) and `key=value` words, before a session starts. Throws `TrailblazeError`
 * `InvalidArguments`.
 */
export async function readGivenArguments(
  args: string | undefined,
  words: readonly string[],
): Promise<GivenArguments> {
  const pairs = words.map((word) => splitPair(word, "an argument"));
  if (args === undefined) return { base: {}, words: pairs };
  const text = args === "-" ? await readStdin() : Buffer.from(args);
  const from = args === "-" ? "The input on stdin" : `--args ${quote(args)}`;
  return { base: parseArguments(text, from), words: pairs };
}

/** The arguments for a tool: the JSON, overridden by the words, whose values depend on the tool's schema. */
export function completeArguments(
  { base, words }: GivenArguments,
  { properties }: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const pairs = words.map(([key, word]) => {
    const schema = isRecord(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
    return [key, readValue(word, schema)] as const;
  });
  const args = carryIntegers(base, Object.fromEntries([...Object.entries(base), ...pairs]));
  for (const [key, word] of words) rememberInteger(args, key, word.trim());
  return args;
}
