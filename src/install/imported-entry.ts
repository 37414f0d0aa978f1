import { isRecord } from "../data/parse-json.ts";
import type { ClientRecord } from "./clients/client.ts";
import { clients } from "./clients/index.ts";
import type { JsonRecord } from "./editing/config-value.ts";
import { hasReference, SecretHider } from "./secrets.ts";

/** The variables of imported servers. Two different values never share a name. */
export class ImportedVariables {
  readonly #values: Map<string, string>;

  constructor(values: Iterable<readonly [string, string]> = []) {
    this.#values = new Map(values);
  }

  get names(): string[] {
    return [...this.#values.keys()];
  }

  /** A copy for one entry, which `accept` takes over if the entry is imported. */
  fork(): ImportedVariables {
    return new ImportedVariables(this.#values);
  }

  accept(fork: ImportedVariables): void {
    for (const [name, value] of fork.#values) this.#values.set(name, value);
  }

  /** Adds the variables of a text that is made of references. */
  refer(text: string): void {
    for (const [reference, name = ""] of text.matchAll(/\$\{(\w+)\}/g)) this.#values.set(name, reference);
  }

  /** The reference for a value: with the label in front if another value has the name, and a number if both are taken. */
  add(label: string, name: string, value: string): string {
    const isFree = (one: string) => [undefined, value].includes(this.#values.get(one));
    let chosen = name;
    for (let count = 1; !isFree(chosen); count++) {
      chosen = `${toVariable(label)}_${name}${count === 1 ? "" : `_${count}`}`;
    }
    this.#values.set(chosen, value);
    return `\${${chosen}}`;
  }
}

/** A name of a variable made of any text: `X-Api-Key` becomes `X_API_KEY`. */
function toVariable(text: string): string {
  const name = text
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .toUpperCase();
  return /^[A-Z]/.test(name) ? name : `_${name}`;
}

class UnsupportedVariableError extends Error {}

const editorVariable = /^\$\{(?:workspaceFolder|workspaceFolderBasename|userHome|pathSeparator)\b/;

/** Converts the strings of one entry. */
class EntryReader {
  readonly #label: string;
  readonly #client: ClientRecord | undefined;
  readonly #variables: ImportedVariables;
  /** Replaces secrets by references. */
  readonly secrets: SecretHider;
  /** The server's own variables, while what may refer to them is read: everything but these. */
  ownVariables: ReadonlyMap<string, string> = new Map();

  constructor(label: string, client: ClientRecord | undefined, variables: ImportedVariables) {
    this.#label = label;
    this.#client = client;
    this.#variables = variables;
    this.secrets = new SecretHider({
      label,
      convert: (text) => this.convert(text),
      hide: (name, secret, isVariable) => variables.add(label, isVariable ? name : toVariable(name), secret),
    });
  }

  /** The value of a variable of the server, which may itself refer to the environment. */
  #readOwn(name: string, value: string): string {
    const variables = this.ownVariables;
    this.ownVariables = new Map();
    const read = this.secrets.value(name, value, true);
    this.ownVariables = variables;
    return read;
  }

  /** A text with the source's references to variables in the config's form. Throws for others. */
  convert(text: string): string {
    const form = this.#client === undefined ? undefined : (this.#client.reference ?? "");
    const readsBare = form === "$NAME" || this.#client?.readsBareReference === true;
    const accepts = (one: string) => form === undefined || form === one;
    const refer = (name: string) => this.#variables.add(this.#label, name, `\${${name}}`);
    const pattern = /\$?\$\{[^}]*\}?|\{env:([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)/g;
    return text.replace(pattern, (match: string, braced?: string, bare?: string) => {
      // In the form of the config, this is a literal `${`; anywhere else, a dollar sign before a reference.
      if (match.startsWith("$$")) return form === undefined ? match : `$${this.convert(match.slice(1))}`;
      if (bare !== undefined) return readsBare ? refer(bare) : match;
      if (braced !== undefined) return accepts("{env:NAME}") ? refer(braced) : match;
      const [, kind, name = ""] = /^\$\{(?:(env|input):)?([A-Za-z_][\w-]*)(?::-[^{}]*)?\}$/.exec(match) ?? [];
      const isPlain = kind === undefined && hasReference(match) && !editorVariable.test(match);
      const ownValue = isPlain ? this.ownVariables.get(name) : undefined;
      if (ownValue !== undefined) return this.#readOwn(name, ownValue);
      if (isPlain && (accepts("${NAME}") || form === "$NAME")) {
        this.#variables.add(this.#label, name, `\${${name}}`);
        return match;
      }
      if (kind === "env" && accepts("${env:NAME}") && !match.includes(":-")) return refer(name);
      if (kind === "input" && accepts("${env:NAME}")) return refer(name.replaceAll("-", "_"));
      // To a client that expands no such reference, it is text.
      if (form !== undefined && !form.startsWith("$")) return `$${match}`;
      throw new UnsupportedVariableError();
    });
  }
}

const shapes = clients.map(({ shape }) => shape);
const keysOf = (pick: (shape: ClientRecord["shape"]) => string | undefined, ...more: string[]) => [
  ...new Set([...more, ...shapes.flatMap((shape) => pick(shape) ?? [])]),
];
const commandKeys = keysOf((shape) => shape.command, "command");
const environmentKeys = keysOf((shape) => shape.environment, "env");
const urlKeys = keysOf((shape) => shape.address?.key, "url");
const headerKeys = keysOf((shape) => shape.address?.headers, "headers");

const pick = (entry: Readonly<Record<string, unknown>>, keys: readonly string[]) =>
  keys.map((key) => entry[key]).find((value) => value !== undefined && value !== null);

/** Strings by name; numbers and booleans count as strings. `undefined` for other values. */
function readStrings(value: unknown): [string, string][] | undefined {
  if (value === undefined) return [];
  if (!isRecord(value)) return undefined;
  const pairs = Object.entries(value);
  const isText = (one: unknown) => ["string", "number", "boolean"].includes(typeof one);
  return pairs.every(([, one]) => isText(one)) ? pairs.map(([name, one]) => [name, String(one)]) : undefined;
}

/** Keys of a client's entry that its server needs and that the config cannot express. */
export const findUnsupportedKeys = (value: unknown): string[] =>
  ["envFile", "headersHelper"].filter((key) => isRecord(value) && Object.hasOwn(value, key));

/** Headers of Codex whose values are in variables, with the names of these. `undefined` for an invalid key. */
function readVariableHeaders(entry: Readonly<Record<string, unknown>>): [string, string][] | undefined {
  const { bearer_token_env_var: bearer, env_http_headers: headers } = entry;
  const named = readStrings(headers)?.map(([name, variable]): [string, string] => [name, `\${${variable}}`]);
  if (bearer === undefined || named === undefined) return named;
  return typeof bearer === "string" ? [["Authorization", `Bearer \${${bearer}}`], ...named] : undefined;
}

/** Whether a command line starts Trailblaze itself. */
function isSelf(words: readonly string[]): boolean {
  const start = words.indexOf("start");
  const isOwn = (word: string) =>
    /(?:^|[\\/])trailblaze(?:@[^\\/]*)?$|[\\/]trailblaze[\\/].*cli\.c?js$|^require\('trailblaze\/cli'\)$|[\\/]dist[\\/]cli[\\/]cli\.cjs$/.test(
      word,
    );
  return start > 0 && words.slice(0, start).some(isOwn);
}

/** The entry of the config for one of a client, or why it is skipped. `client` is `undefined` for other files. */
export function readImportedEntry(
  label: string,
  value: unknown,
  client: ClientRecord | undefined,
  variables: ImportedVariables,
): JsonRecord | "self" | "unsupportedVariable" | "invalid" {
  if (!isRecord(value)) return "invalid";
  const written = pick(value, commandKeys);
  // Some clients nest the command line.
  const nested = isRecord(written) ? written : undefined;
  const command = nested === undefined ? written : (nested.path ?? nested.command);
  const words = [command, nested?.args ?? value.args ?? []].flat();
  const url = pick(value, urlKeys);
  const env = readStrings(pick(nested ?? value, environmentKeys) ?? pick(value, environmentKeys));
  const headers = readStrings(pick(value, headerKeys));
  const isText = (one: unknown): one is string => typeof one === "string";
  const reader = new EntryReader(label, client, variables);
  const entry: JsonRecord = {};
  try {
    if (command !== undefined && url === undefined) {
      if (!words.every(isText) || env === undefined) return "invalid";
      if (isSelf(words)) return "self";
      const [program = "", ...args] = words;
      reader.ownVariables = new Map(env);
      entry.command = reader.secrets.commandLine(program);
      if (args.length > 0) entry.args = reader.secrets.args(args);
      if (isText(value.cwd)) entry.cwd = reader.convert(value.cwd);
      reader.ownVariables = new Map();
      const pairs = env.map(([name, text]) => [name, reader.secrets.value(name, text, true)]);
      if (pairs.length > 0) entry.env = Object.fromEntries(pairs);
    } else if (isText(url) && command === undefined) {
      const inVariables = readVariableHeaders(value);
      const isSse = value.type === "sse" || value.transport === "sse";
      if (headers === undefined || inVariables === undefined || isSse) return "invalid";
      entry.url = reader.secrets.url(url);
      const pairs = headers.map(([name, text]) => [name, reader.secrets.value(name, text)]);
      for (const [, reference] of inVariables) variables.refer(reference);
      if (pairs.length + inVariables.length > 0)
        entry.headers = Object.fromEntries([...pairs, ...inVariables]);
    } else return "invalid";
  } catch (error) {
    if (error instanceof UnsupportedVariableError) return "unsupportedVariable";
    throw error;
  }
  if (value.disabled === true || value.enabled === false) entry.enabled = false;
  return entry;
}
