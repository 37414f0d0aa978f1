import { isRecord } from "../data/parse-json.ts";
import { quote } from "../problems/index.ts";
import type { ClientRecord } from "./clients/client.ts";
import { clients } from "./clients/index.ts";
import type { JsonRecord } from "./editing/config-format.ts";
import { hasReference, isHarmless, isSecretName, looksSecret } from "./secrets.ts";

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

/** Why an entry cannot be imported. */
class UnreadableEntryError extends Error {
  readonly reason: "unsupportedVariable" | "invalid";

  constructor(reason: "unsupportedVariable" | "invalid", detail: string) {
    super(detail);
    this.reason = reason;
  }
}

const invalid = (detail: string) => new UnreadableEntryError("invalid", detail);

const editorVariable = /^\$\{(?:workspaceFolder|workspaceFolderBasename|userHome|pathSeparator)\b/;

/** Converts the strings of one entry. */
class EntryReader {
  readonly #label: string;
  /** The forms of references that the client reads; `undefined` for a file of an unknown client. */
  readonly #forms: readonly string[] | undefined;
  readonly #variables: ImportedVariables;
  /** The server's own variables, while what may refer to them is read: everything but these. */
  ownVariables: ReadonlyMap<string, string> = new Map();

  constructor(label: string, client: ClientRecord | undefined, variables: ImportedVariables) {
    this.#label = label;
    this.#forms = client && [
      ...(client.reference === undefined ? [] : [client.reference]),
      ...(client.alsoReads ?? []),
    ];
    this.#variables = variables;
  }

  /**
   * The value of a variable or a header: a reference to a variable, unless the value consists of references already or is
   * plainly harmless.
   */
  value(place: string, name: string, text: string): string {
    const converted = this.convert(`${place}.${name}`, text);
    const literal = converted.replace(/\$\{\w+\}/g, "");
    if (/^(?:(?:Bearer|Basic|Token) *)?$/i.test(literal)) return converted;
    const written = converted.replace(/\$\{\w+(?::-([^{}]*))?\}/g, (_, fallback: string = "x") => fallback);
    if (!isSecretName(name) && isHarmless(written)) return converted;
    const isVariable = place === "env" && /^[A-Za-z_]\w*$/.test(name);
    return this.#variables.add(this.#label, isVariable ? name : toVariable(name), text);
  }

  /** The value of a variable of the server, which may itself refer to the environment. */
  #readOwn(name: string, value: string): string {
    const variables = this.ownVariables;
    this.ownVariables = new Map();
    const read = this.value("env", name, value);
    this.ownVariables = variables;
    return read;
  }

  /** A text with the source's references to variables in the config's form. Throws for others. */
  convert(place: string, text: string): string {
    const forms = this.#forms;
    const accepts = (one: string) => forms === undefined || forms.includes(one);
    const refer = (name: string) => this.#variables.add(this.#label, name, `\${${name}}`);
    const refuse = (reference: string) =>
      new UnreadableEntryError("unsupportedVariable", `${place} has the variable ${reference}`);
    const pattern =
      /\$?\$\{[^}]*\}?|\{env:([A-Za-z_]\w*)\}|\{file:[^}]*\}|\$\([^)]*\)?|\$env:([A-Za-z_]\w*)|\$([A-Za-z_]\w*)/g;
    return text.replace(pattern, (match: string, braced?: string, prefixed?: string, bare?: string) => {
      // In the form of the config, this is a literal `${`; anywhere else, a dollar sign before a reference.
      if (match.startsWith("$$"))
        return forms === undefined ? match : `$${this.convert(place, match.slice(1))}`;
      // Unknown clients may use these forms, but shells do so more often.
      if (bare !== undefined) return forms?.includes("$NAME") ? refer(bare) : match;
      if (prefixed !== undefined) return forms?.includes("$env:NAME") ? refer(prefixed) : match;
      if (braced !== undefined) return accepts("{env:NAME}") ? refer(braced) : match;
      if (match.startsWith("{file:")) {
        if (accepts("{env:NAME}")) throw refuse(match);
        return match;
      }
      if (match.startsWith("$(")) {
        if (forms?.includes("$(COMMAND)")) throw refuse(match);
        return match;
      }
      const [, kind, name = ""] = /^\$\{(?:(env|input):)?([A-Za-z_][\w-]*)(?::-[^{}]*)?\}$/.exec(match) ?? [];
      const isPlain = kind === undefined && hasReference(match) && !editorVariable.test(match);
      const ownValue = isPlain ? this.ownVariables.get(name) : undefined;
      if (ownValue !== undefined) return this.#readOwn(name, ownValue);
      if (isPlain && (accepts("${NAME}") || accepts("$NAME"))) {
        this.#variables.add(this.#label, name, `\${${name}}`);
        return match;
      }
      const isReferable = /^\w+$/.test(name) && !match.includes(":-");
      if (kind === "env" && accepts("${env:NAME}") && isReferable) return refer(name);
      if (kind === "input" && accepts("${env:NAME}")) return refer(name.replaceAll("-", "_"));
      // To a client that expands no such reference, it is text.
      if (forms?.some((form) => form.startsWith("$")) === false) return `$${match}`;
      throw refuse(match);
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

type Entry = Readonly<Record<string, unknown>>;

const pick = (entry: Entry, keys: readonly string[]) =>
  keys.map((key) => entry[key]).find((value) => value !== undefined && value !== null);

const isText = (value: unknown): value is string => typeof value === "string";

/** Strings by name; numbers and booleans count as strings. Throws for other values. */
function readStrings(key: string, value: unknown): [string, string][] {
  if (value === undefined) return [];
  if (!isRecord(value)) throw invalid(`${key} is not an object`);
  return Object.entries(value).map(([name, one]) => {
    if (!["string", "number", "boolean"].includes(typeof one))
      throw invalid(`${key}.${name} is not a string, a number or a boolean`);
    return [name, String(one)];
  });
}

/** The keys with which clients choose the tools of a server. */
const filterKeys: Readonly<Record<string, "allow" | "deny">> = {
  tools: "allow",
  includeTools: "allow",
  include_tools: "allow",
  enabledTools: "allow",
  enabled_tools: "allow",
  allowedTools: "allow",
  allowed_tools: "allow",
  available_tools: "allow",
  excludeTools: "deny",
  exclude_tools: "deny",
  excludedTools: "deny",
  disabledTools: "deny",
  disabled_tools: "deny",
  blockedTools: "deny",
  blocked_tools: "deny",
};

/** The choice of tools of an entry; also removes from `rest` the keys that it is made from. Throws for a choice that is not clear. */
function readTools(entry: Entry, rest: Set<string>): JsonRecord | undefined {
  let allow: string[] | undefined;
  const deny: string[] = [];
  const read = (key: string, kind: "allow" | "deny", value: unknown) => {
    if (!Array.isArray(value) || !value.every(isText)) throw invalid(`${key} is not an array of strings`);
    rest.delete(key);
    // To Goose, an empty array stands for all tools.
    const isAll = value.includes("*") || (key === "available_tools" && value.length === 0);
    // Gemini takes `name(…)`, as in its list of commands, for the whole tool.
    const names = key === "includeTools" ? value.map((name) => name.replace(/\(.*$/s, "")) : value;
    if (kind === "deny") deny.push(...names);
    else if (!isAll) allow = allow === undefined ? names : allow.filter((name) => names.includes(name));
  };
  for (const [key, kind] of Object.entries(filterKeys)) {
    const value = entry[key];
    if (value === undefined || value === null) continue;
    if (!isRecord(value)) read(key, kind, value);
    else if (Object.keys(value).every((name) => name === "allow" || name === "deny")) {
      if (value.allow !== undefined) read(key, "allow", value.allow);
      if (value.deny !== undefined) read(key, "deny", value.deny);
    } else if (Object.values(value).every((one) => typeof one === "boolean")) {
      const names = Object.keys(value);
      read(
        key,
        "deny",
        names.filter((name) => value[name] === (kind === "deny")),
      );
    } else if (key === "tools" && Object.values(value).every(isRecord)) {
      // Settings by tool, such as Codex's approvals; other keys of them are named as not imported.
      const isOff = (one: unknown) => isRecord(one) && (one.enabled === false || one.disabled === true);
      deny.push(...Object.keys(value).filter((name) => isOff(value[name])));
      const isRead = Object.values(value)
        .flatMap((one) => Object.keys(one as object))
        .every((one) => /^(?:en|dis)abled$/.test(one));
      if (isRead) rest.delete(key);
    } else throw invalid(`${key} is not an array of strings`);
  }
  const unclear = [...rest].find((key) => /^tools?_?(?:filter|allow|deny|include|exclude)/i.test(key));
  if (unclear !== undefined) throw invalid(`${unclear} is not a known choice of tools`);
  if (allow === undefined && deny.length === 0) return undefined;
  return { ...(allow === undefined ? {} : { allow }), ...(deny.length === 0 ? {} : { deny }) };
}

/** Headers of Codex whose values are in variables, with the names of these. */
function readVariableHeaders(entry: Entry): [string, string][] {
  const { bearer_token_env_var: bearer, env_http_headers: headers } = entry;
  const named = readStrings("env_http_headers", headers).map(([name, variable]): [string, string] => [
    name,
    `\${${variable}}`,
  ]);
  if (bearer === undefined) return named;
  if (!isText(bearer)) throw invalid("bearer_token_env_var is not a string");
  return [["Authorization", `Bearer \${${bearer}}`], ...named];
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

/** An entry of the config made of a client's. */
export interface ImportedEntry {
  entry: JsonRecord;
  /** What differs from the client's entry, as sentences. */
  notes: string[];
}

/** Why an entry is not imported. `detail` names the key and the variable. */
export interface RefusedEntry {
  reason: "self" | "unsupportedVariable" | "invalid";
  detail?: string;
}

const isEmpty = (value: unknown) =>
  value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);

/** Keys without an effect on the server: the transport follows from the command or the URL, and the name is the label. */
const plainKeys = ["type", "transport", "name", "source", "disabled", "enabled", "$schema", "description"];

/** The entry of the config for one of a client, or why it is skipped. `client` is `undefined` for other files. */
export function readImportedEntry(
  label: string,
  value: unknown,
  client: ClientRecord | undefined,
  variables: ImportedVariables,
): ImportedEntry | RefusedEntry {
  try {
    return readEntry(label, value, new EntryReader(label, client, variables), variables);
  } catch (error) {
    if (error instanceof UnreadableEntryError) return { reason: error.reason, detail: error.message };
    throw error;
  }
}

function readEntry(
  label: string,
  value: unknown,
  reader: EntryReader,
  variables: ImportedVariables,
): ImportedEntry | RefusedEntry {
  if (!isRecord(value)) throw invalid("it is not an object");
  const written = pick(value, commandKeys);
  // Some clients nest the command line.
  const nested = isRecord(written) ? written : undefined;
  const command = nested === undefined ? written : (nested.path ?? nested.command);
  const words = [command, nested?.args ?? value.args ?? []].flat();
  const url = pick(value, urlKeys);
  const entry: JsonRecord = {};
  const notes: string[] = [];
  const rest = new Set(Object.keys(value).filter((key) => !isEmpty(value[key])));
  const consume = (...keys: string[]) => {
    for (const key of keys) rest.delete(key);
  };
  consume(...plainKeys);
  if (command !== undefined && url !== undefined) throw invalid("it has both a command and a URL");
  if (command !== undefined) {
    if (!words.every(isText)) throw invalid("its command line has other values than strings");
    if (isSelf(words)) return { reason: "self" };
    const env = readStrings("env", pick(nested ?? value, environmentKeys) ?? pick(value, environmentKeys));
    const [program = "", ...args] = words;
    reader.ownVariables = new Map(env);
    entry.command = reader.convert("command", program);
    if (args.length > 0) entry.args = args.map((word) => reader.convert("args", word));
    if (isText(value.cwd)) {
      entry.cwd = reader.convert("cwd", value.cwd);
      consume("cwd");
    }
    reader.ownVariables = new Map();
    const pairs = env.map(([name, text]) => [name, reader.value("env", name, text)]);
    if (pairs.length > 0) entry.env = Object.fromEntries(pairs);
    if (looksSecret(words).includes(true))
      notes.push("an argument looks like a secret and was imported as it is");
    // Variables that clients pass on by name reach every server of the config.
    consume(...commandKeys, ...environmentKeys, "args", "env_vars", "env_keys");
  } else if (isText(url)) {
    if (value.type === "sse" || value.transport === "sse") throw invalid("its transport is sse");
    entry.url = reader.convert("url", url);
    const headers = readStrings("headers", pick(value, headerKeys));
    const pairs = headers.map(([name, text]) => [name, reader.value("headers", name, text)]);
    const inVariables = readVariableHeaders(value);
    for (const [, reference] of inVariables) variables.refer(reference);
    if (pairs.length + inVariables.length > 0) entry.headers = Object.fromEntries([...pairs, ...inVariables]);
    if (looksSecret([url]).includes(true))
      notes.push("its URL looks like it has a secret and was imported as it is");
    consume(...urlKeys, ...headerKeys, "bearer_token_env_var", "env_http_headers");
  } else throw invalid(url === undefined ? "it has neither a command nor a URL" : "its URL is not a string");
  const tools = readTools(value, rest);
  if (tools !== undefined) entry.tools = tools;
  if (value.disabled === true || value.enabled === false) entry.enabled = false;
  for (const key of rest) {
    const advice = key === "envFile" ? ": set the variables of that file in the environment" : "";
    notes.push(`the key ${quote(key)} was not imported${advice}`);
  }
  return { entry, notes: notes.map((note) => `Server ${quote(label)}: ${note}.`) };
}
