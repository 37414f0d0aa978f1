// What the tables of docs/ say of keys: `<!-- table: NAME -->` stands before each. It is written there alone, and goes into the
// exported schemas and the type of the config.
import { readFileSync } from "node:fs";

export type JsonSchema = Record<string, unknown>;

/** Words as a sentence without links. */
function formatSentence(words: string): string {
  const text = words.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;
}

/** The keys in the first cells of a table, with a prefix, and what the last cells say of them. */
export function readWords(page: string, table: string, prefix = ""): [key: string, words: string][] {
  const text = readFileSync(new URL(`../docs/${page}`, import.meta.url), "utf8");
  const [, rows] =
    new RegExp(`^<!-- table: ${table} -->\n\\|.*\n\\|.*\n((?:\\|.*\n)+)`, "m").exec(text) ?? [];
  if (rows === undefined) throw new Error(`${page} has no table ${table}.`);
  return rows.split("\n").flatMap((row) => {
    const cells = row.slice(2, -2).split(" | ");
    const keys = [...(cells[0] ?? "").matchAll(/`([^`]+)`/g)];
    const byDefault = cells.length === 3 && cells[1] !== "none" ? ` Default: ${cells[1]}.` : "";
    const words = `${formatSentence(cells.at(-1) ?? "")}${byDefault}`;
    return keys.map(([, key]): [string, string] => [`${prefix}${key}`, words]);
  });
}

/** Every key in a schema with its path: `[]` stands for the entries of an array, `*` for any key. */
export function* findKeys(
  { properties = {}, required = [], items, additionalProperties, anyOf = [] }: JsonSchema,
  path = "",
): Generator<{ path: string; schema: JsonSchema; isRequired: boolean }> {
  const below = (key: string) => (path === "" ? key : `${path}.${key}`);
  for (const [key, schema] of Object.entries(properties as Record<string, JsonSchema>)) {
    yield { path: below(key), schema, isRequired: (required as string[]).includes(key) };
    yield* findKeys(schema, below(key));
  }
  if (items !== undefined) yield* findKeys(items as JsonSchema, `${path}[]`);
  if (typeof additionalProperties === "object")
    yield* findKeys(additionalProperties as JsonSchema, below("*"));
  for (const form of anyOf as JsonSchema[]) yield* findKeys(form, path);
}

/** Adds what editors show of the keys of a schema. */
export function addWords<Schema extends JsonSchema>(
  schema: Schema,
  words: Iterable<[string, string]>,
): Schema {
  const byKey = new Map(words);
  for (const { path, schema: found } of findKeys(schema)) {
    found.description ??= byKey.get(path);
    if (found.description === undefined) throw new Error(`No table in docs/ says what ${path} is for.`);
  }
  return schema;
}
