import { isRecord } from "../data/parse-json.ts";
import { quote } from "../problems/index.ts";
import type { ClientRecord } from "./clients/client.ts";
import { clients } from "./clients/index.ts";
import type { JsonRecord } from "./editing/config-format.ts";
import { isHarmless, isSecretName, looksSecret } from "./secrets.ts";

/** The values of variables by name, as references or as the source has them. Two different values never share a name. */
type Variables = Map<string, string>;

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

const anyReference =
  /\$?\$\{[^}]*\}?|\{env:[A-Za-z_]\w*\}|\{file:[^}]*\}|\$\([^)]*\)?|\$env:[A-Za-z_]\w*|\$[A-Za-z_]\w*/g;

/** The forms of references to variables, with those of a client's record that mean them. */
const references: readonly { pattern: RegExp; forms: readonly string[]; isUsual: boolean }[] = [
  {
    pattern:
      /^\$\{(?!(?:workspaceFolder|workspaceFolderBasename|userHome|pathSeparator)\b)([A-Za-z_]\w*)(?::-[^{}]*)?\}$/,
    forms: ["${NAME}", "$NAME"],
    isUsual: true,
  },
  { pattern: /^\$\{env:([A-Za-z_]\w*)\}$/, forms: ["${env:NAME}"], isUsual: true },
  { pattern: /^\$\{input:([A-Za-z_][\w-]*)\}$/, forms: ["${env:NAME}"], isUsual: true },
  { pattern: /^\{env:(\w+)\}$/, forms: ["{env:NAME}"], isUsual: true },
  // In a file of an unknown client, these are more likely meant for a shell.
  { pattern: /^\$env:(\w+)$/, forms: ["$env:NAME"], isUsual: false },
  { pattern: /^\$(\w+)$/, forms: ["$NAME"], isUsual: false },
];

/** Converts the strings of one entry. */
class EntryReader {
  readonly #label: string;
  /** The forms of references that the client reads; `undefined` for a file of an unknown client. */
  readonly #forms: readonly string[] | undefined;
  readonly #variables: Variables;

  constructor(label: string, client: ClientRecord | undefined, variables: Variables) {
    this.#label = label;
    this.#forms = client && [client.reference ?? [], client.alsoReads ?? []].flat();
    this.#variables = variables;
  }

  /** The reference for a value: with the label in front if another value has the name, and a number if both are taken. */
  #refer(name: string, value = `\${${name}}`): string {
    const isFree = (one: string) => [undefined, value].includes(this.#variables.get(one));
    let chosen = name;
    for (let count = 1; !isFree(chosen); count++)
      chosen = `${toVariable(this.#label)}_${name}${count === 1 ? "" : `_${count}`}`;
    this.#variables.set(chosen, value);
    return `\${${chosen}}`;
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
    return this.#refer(isVariable ? name : toVariable(name), text);
  }

  /** A text with the source's references to variables in the config's form. Throws for others. */
  convert(place: string, text: string): string {
    const forms = this.#forms;
    const reads = (one: readonly string[], isUsual: boolean) =>
      forms === undefined ? isUsual : one.some((form) => forms.includes(form));
    return text.replace(anyReference, (match: string) => {
      // In the form of the config, this is a literal `${`; anywhere else, a dollar sign before a reference.
      if (match.startsWith("$$"))
        return forms === undefined ? match : `$${this.convert(place, match.slice(1))}`;
      for (const { pattern, forms: ofRecord, isUsual } of references) {
        const [, name] = (reads(ofRecord, isUsual) && pattern.exec(match)) || [];
        if (name === undefined) continue;
        const reference = this.#refer(name.replaceAll("-", "_"));
        return match.includes(":-") ? match : reference;
      }
      const isOther =
        (match.startsWith("{file:") && reads(["{env:NAME}"], true)) ||
        (match.startsWith("$(") && reads(["$(COMMAND)"], false)) ||
        (match.startsWith("${") && (forms?.some((form) => form.startsWith("$")) ?? true));
      if (isOther)
        throw new UnreadableEntryError("unsupportedVariable", `${place} has the variable ${match}`);
      // To a client that expands no such reference, it is text.
      return match.startsWith("${") ? `$${match}` : match;
    });
  }
}

const shapes = clients.map(({ shape }) => shape);
const keysOf = (pick: (shape: ClientRecord["shape"]) => string | undefined, usual: string) => [
  ...new Set([usual, ...shapes.flatMap((shape) => pick(shape) ?? [])]),
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
function readStrings(key: string, value: unknown = {}): [string, string][] {
  if (!isRecord(value)) throw invalid(`${key} is not an object`);
  return Object.entries(value).map(([name, one]) => {
    if (!["string", "number", "boolean"].includes(typeof one))
      throw invalid(`${key}.${name} is not a string, a number or a boolean`);
    return [name, String(one)];
  });
}

/** The keys with which clients choose the tools of a server. */
const choiceKey =
  /^(?:(?:included?|enabled|allowed|available|(excluded?|disabled|blocked))_?)?tools$|^tools?_?(?:filter|allow|deny|include|exclude)/i;

/** Throws for an entry with a choice of tools: without it, more tools would be offered. */
function refuseChoice(entry: Entry): void {
  const isChoice = ([key, value]: [string, unknown]) => {
    const [isKey, isDenial] = choiceKey.exec(key) ?? [];
    if (isKey === undefined || value === null || value === "") return false;
    // To Goose, an empty array stands for all tools.
    if (isDenial || key === "available_tools") return !isEmpty(value);
    return !Array.isArray(value) || !value.includes("*");
  };
  const [key] = Object.entries(entry).find(isChoice) ?? [];
  if (key !== undefined)
    throw invalid(`${key} chooses its tools: add the server by hand, with "tools: { allow, deny }"`);
}

/** Headers of Codex whose values are in variables, as references to these. */
function readVariableHeaders({ bearer_token_env_var: bearer, env_http_headers: headers }: Entry) {
  const named = readStrings("env_http_headers", headers);
  const bearers = readStrings("bearer_token_env_var", bearer === undefined ? {} : { Authorization: bearer });
  return [
    ...bearers.map(([name, variable]) => [name, `Bearer \${${variable}}`] as const),
    ...named.map(([name, variable]) => [name, `\${${variable}}`] as const),
  ];
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
  /** With those of earlier entries. */
  variables: Map<string, string>;
}

/** Why an entry is not imported. `detail` names the key and the variable. */
export interface RefusedEntry {
  reason: "self" | "unsupportedVariable" | "invalid";
  detail?: string;
}

const isEmpty = (value: unknown) =>
  value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);

/**
 * Keys that are read, or have no effect on the server: the transport follows from the command or the URL, the name is the
 * label, and variables that clients pass on by name reach every server of the config.
 */
const readKeys = [
  ...["type", "transport", "name", "source", "disabled", "enabled", "$schema", "description", "tools"],
];
const keysOfCommands = [...commandKeys, ...environmentKeys, "args", "cwd", "env_vars", "env_keys"];
const keysOfAddresses = [...urlKeys, ...headerKeys, "bearer_token_env_var", "env_http_headers"];

/**
 * The entry of the config for one of a client, or why it is skipped. `client` is `undefined` for other files, `known` has the
 * variables of earlier entries.
 */
export function readImportedEntry(
  label: string,
  value: unknown,
  client: ClientRecord | undefined,
  known: ReadonlyMap<string, string>,
): ImportedEntry | RefusedEntry {
  const variables = new Map(known);
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
  variables: Variables,
): ImportedEntry | RefusedEntry {
  if (!isRecord(value)) throw invalid("it is not an object");
  const command = pick(value, commandKeys);
  const url = pick(value, urlKeys);
  if (command !== undefined && url !== undefined) throw invalid("it has both a command and a URL");
  refuseChoice(value);
  const entry: JsonRecord = {};
  const notes: string[] = [];
  const readValues = (place: string, strings: readonly [string, string][]) =>
    Object.fromEntries(strings.map(([name, text]) => [name, reader.value(place, name, text)]));
  if (command !== undefined) {
    const words = [command, value.args ?? []].flat();
    if (!words.every(isText)) throw invalid("its command line has other values than strings");
    if (isSelf(words)) return { reason: "self" };
    const [program = "", ...args] = words;
    const env = readValues("env", readStrings("env", pick(value, environmentKeys)));
    entry.command = reader.convert("command", program);
    if (args.length > 0) entry.args = args.map((word) => reader.convert("args", word));
    if (isText(value.cwd)) entry.cwd = reader.convert("cwd", value.cwd);
    if (!isEmpty(env)) entry.env = env;
    if (looksSecret(words).includes(true))
      notes.push("an argument looks like a secret and was imported as it is");
  } else {
    if (!isText(url))
      throw invalid(url === undefined ? "it has neither a command nor a URL" : "its URL is not a string");
    if (value.type === "sse" || value.transport === "sse") throw invalid("its transport is sse");
    entry.url = reader.convert("url", url);
    const inVariables = readVariableHeaders(value);
    for (const [, text] of inVariables)
      for (const [reference, name = ""] of text.matchAll(/\$\{(\w+)\}/g)) variables.set(name, reference);
    const literal = readValues("headers", readStrings("headers", pick(value, headerKeys)));
    const headers = { ...literal, ...Object.fromEntries(inVariables) };
    if (!isEmpty(headers)) entry.headers = headers;
    if (looksSecret([url]).includes(true))
      notes.push("its URL looks like it has a secret and was imported as it is");
  }
  if (value.disabled === true || value.enabled === false) entry.enabled = false;
  const known = new Set([...readKeys, ...(command === undefined ? keysOfAddresses : keysOfCommands)]);
  for (const key of Object.keys(value)) {
    if (known.has(key) || isEmpty(value[key])) continue;
    const advice = key === "envFile" ? ": write it as `envFile`, relative to the config" : "";
    notes.push(`the key ${quote(key)} was not imported${advice}`);
  }
  return { entry, notes: notes.map((note) => `Server ${quote(label)}: ${note}.`), variables };
}
