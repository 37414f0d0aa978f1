import { DataSyntaxError } from "../../data/decode.ts";
import { isRecord, parseJson } from "../../data/parse-json.ts";
import { failure, quote } from "../../problems/index.ts";
import { splitPair } from "./session-command.ts";

const hint = `Write --args '{"key": "value"}', or key=value, or --args - to read JSON from stdin.`;

function parseText(text: Uint8Array, from: string): Record<string, unknown> {
  let value: unknown;
  try {
    ({ value } = parseJson(text));
  } catch (error) {
    if (!(error instanceof DataSyntaxError)) throw error;
    throw failure("InvalidArguments", { reason: `${from} is not JSON: ${error.message}`, hint });
  }
  if (isRecord(value)) return value;
  throw failure("InvalidArguments", { reason: `${from} must be a JSON object`, hint });
}

/** Schemas that nest deeper, or hold themselves, are not looked into. */
const deepestBranch = 20;

/** Whether a property takes a word as text, whatever else it takes. */
function takesText(schema: unknown, word: string, depth = 0): boolean {
  if (!isRecord(schema) || depth > deepestBranch) return false;
  const { type, enum: values, const: only, anyOf, oneOf } = schema;
  if (type === "string" || (Array.isArray(type) && type.includes("string"))) return true;
  if (only === word) return true;
  if (Array.isArray(values) && values.length > 0) {
    if (values.includes(word) || values.every((value) => typeof value === "string")) return true;
  }
  return [anyOf, oneOf].some(
    (branches) => Array.isArray(branches) && branches.some((one) => takesText(one, word, depth + 1)),
  );
}

/** What a word stands for: text where the tool wants text, else JSON if it is some. */
function readValue(word: string, schema: unknown): unknown {
  if (takesText(schema, word)) return word;
  try {
    return parseJson(Buffer.from(word)).value;
  } catch {
    return word;
  }
}

/** The arguments of a call as they were given; what a word stands for depends on the tool. */
export interface GivenArguments {
  base: Readonly<Record<string, unknown>>;
  words: readonly (readonly [key: string, word: string])[];
}

/** Everything up to the end of stdin. Not in one synchronous read, which nothing but that end could interrupt. */
async function readStdin(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/**
 * Reads JSON from `--args` (`-` for stdin) and `key=value` words. Throws `TrailblazeError` `InvalidArguments`: before
 * anything is started for a call that cannot be made.
 */
export async function readGivenArguments(args: unknown, words: readonly string[]): Promise<GivenArguments> {
  const pairs = words.map((word) => splitPair(word, "An argument"));
  if (args === undefined) return { base: {}, words: pairs };
  const base =
    args === "-"
      ? parseText(await readStdin(), "What stdin holds")
      : parseText(Buffer.from(String(args)), `--args ${quote(String(args))}`);
  return { base, words: pairs };
}

/** The arguments for a tool: JSON with the words over it, each read as the tool's schema says. */
export function completeArguments(
  { base, words }: GivenArguments,
  { properties }: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const pairs = words.map(([key, word]) => {
    const schema = isRecord(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
    return [key, readValue(word, schema)] as const;
  });
  return Object.fromEntries([...Object.entries(base), ...pairs]);
}
