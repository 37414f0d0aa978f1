import { isUtf8 } from "node:buffer";
import { realpathSync } from "node:fs";
import { normalize, resolve } from "node:path";
import { readConfig } from "../config/read-config.ts";
import { isRecord, isText } from "../data/parse-json.ts";
import { findProject } from "../discovery/project.ts";
import { valueAt } from "../extension-schema/pointer.ts";
import { readConfigFile } from "../files/edit.ts";
import { inspectionPort as port } from "../files/node-inspection-port.ts";
import { failure, quote, TrailblazeError } from "../problems/index.ts";
import { unknownName } from "../qualified-names/nearest-names.ts";
import { type ClientRecord, clients, findClient, type Scope } from "./clients/index.ts";
import { ConfigDocument, entriesOf } from "./editing/config-document.ts";
import type { ConfigFormatName, JsonRecord } from "./editing/config-format.ts";
import { findFile } from "./plan-install.ts";
import { type EntryToWrite, planConfigEdit, readProjectServers } from "./project-config.ts";
import { environmentKeys, headerKeys, isHarmless, isSecretName, looksSecret } from "./secrets.ts";

type SkipReason = "self" | "exists" | "notSelected" | "unsupportedVariable" | "invalid";

interface ImportOptions {
  cwd: string;
  scope?: Scope | undefined;
  /** Names of the servers to import; none for all. */
  only: readonly string[];
  /** Replaces servers that the config already has. */
  replace: boolean;
  /** Reads stdin, for the source `-`. */
  readInput: () => Promise<Uint8Array>;
}

/**
 * The entries of a config: in the container of the client, or of any client, or at the top of a pasted object. `folders`: those of
 * the project, for clients that keep servers by folder.
 */
function findEntries(
  root: Record<string, unknown>,
  client: ClientRecord | undefined,
  folders: readonly string[],
): Map<string, unknown> {
  const records = client === undefined ? clients : [client];
  const containers = records.flatMap(({ container, newerContainer }) =>
    newerContainer ? [newerContainer, container] : [container],
  );
  // What is a newer container of one client may lie in the container of another.
  const innerFirst = containers.sort((a, b) => b.length - a.length);
  const everywhere = innerFirst.map((path) => entriesOf(valueAt(root, path)));
  const { byFolder, container = [], disabledNames = [] } = client ?? {};
  const ofFolders = entriesOf(byFolder && valueAt(root, byFolder)).flatMap(([folder, settings]) =>
    folders.includes(normalize(folder)) ? [settings] : [],
  );
  const inFolders = ofFolders.flatMap((settings) => entriesOf(valueAt(settings, container)));
  const entries = new Map([...(everywhere.find(({ length }) => length > 0) ?? []), ...inFolders]);
  // What the user has turned off stays so.
  for (const settings of [root, ...ofFolders]) {
    const names = valueAt(settings, disabledNames);
    for (const name of Array.isArray(names) ? names : []) {
      const entry = entries.get(name);
      if (isRecord(entry)) entries.set(name, { ...entry, disabled: true });
    }
  }
  if (client !== undefined || entries.size > 0) return entries;
  const isEntry = (value: unknown) =>
    isRecord(value) && pick(value, [...commandKeys, ...urlKeys]) !== undefined;
  return new Map(Object.entries(root).filter(([, value]) => isEntry(value)));
}

/**
 * The servers of stdin, a file, whose name has a dot or a slash, or the config of a client, in the first format that fits. Throws
 * `ClientConfigNotFound` and `ClientConfigMalformed`.
 */
async function readServers(
  source: string,
  { cwd, scope, readInput }: ImportOptions,
  folders: readonly string[],
) {
  const isStdin = source === "-";
  const client = isStdin || /[./\\]/.test(source) ? undefined : findClient(source);
  const path = client === undefined ? resolve(cwd, source) : findFile(client, { cwd, scope });
  const file = isStdin ? "stdin" : path;
  const malformed = (reason: string) => failure("ClientConfigMalformed", { file, reason }, { file });
  const input = isStdin ? Buffer.from(await readInput()) : undefined;
  if (input && !isUtf8(input)) throw malformed("it is not UTF-8");
  const text = input ? String(input) : readConfigFile(file);
  if (text === undefined) throw failure("ClientConfigNotFound", { file }, { file });
  const usual: readonly ConfigFormatName[] = ["jsonc", "toml", "yaml"];
  const name = source.replace(/\.json5?$/i, ".jsonc").replace(/\.yml$/, ".yaml");
  const formats = client ? [client.format] : usual.filter((format) => name.endsWith(`.${format}`));
  let reason = "";
  for (const format of formats.length > 0 ? formats : usual) {
    // Documentation often shows a property without the braces around it.
    const whole = format === "jsonc" && /^\s*"/.test(text) ? `{${text}}` : text;
    try {
      const { root } = new ConfigDocument(file, format, whole);
      const entries = findEntries(root, client, folders);
      if (entries.size > 0) return { client, entries };
      reason = "it has no MCP servers";
      break;
    } catch (error) {
      if (!(error instanceof TrailblazeError && error.problem.code === "ClientConfigMalformed")) throw error;
      reason ||= error.problem.args.reason;
    }
  }
  throw malformed(reason);
}

/** A server that is not imported. Its message is for people, such as the key and the variable that cannot be imported. */
class SkippedError extends Error {
  declare readonly cause: SkipReason;
}

const skip = (cause: SkipReason, detail?: string) => new SkippedError(detail, { cause });
const invalid = (detail: string) => skip("invalid", detail);

const anyReference =
  /\$?\$\{[^}]*\}?|\{env:[A-Za-z_]\w*\}|\{file:[^}]*\}|\$\([^)]*\)?|\$env:[A-Za-z_]\w*|\$[A-Za-z_]\w*/g;

/** One reference to a variable in the forms that records of clients name. */
const referenceForms: Readonly<Record<string, RegExp>> = {
  "${NAME}":
    /^\$\{(?!(?:workspaceFolder|workspaceFolderBasename|userHome|pathSeparator)\b)([A-Za-z_]\w*)(?::-[^{}]*)?\}$/,
  "${env:NAME}": /^\$\{(?:env:(?=\w+\}$)|input:)([A-Za-z_][\w-]*)\}$/,
  "{env:NAME}": /^\{env:(\w+)\}$/,
  "$env:NAME": /^\$env:(\w+)$/,
  $NAME: /^\$(\w+)$/,
};

/** The forms in a file of an unknown client: the others are more likely meant for a shell. */
const usualForms = ["${NAME}", "${env:NAME}", "{env:NAME}"];

/** A name of a variable made of any text: `X-Api-Key` becomes `X_API_KEY`. */
function toVariable(text: string): string {
  const name = text
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .toUpperCase();
  return /^[A-Z]/.test(name) ? name : `_${name}`;
}

type Reader = ReturnType<typeof createReader>;

/**
 * Converts the strings of one entry. `variables` has the values of variables by name, as references or as the source has them:
 * two different values never share a name.
 */
function createReader(label: string, client: ClientRecord | undefined, variables: Map<string, string>) {
  const known = client ? [client.reference ?? [], client.alsoReads ?? []].flat() : usualForms;
  /** The forms of references that the client reads. */
  const forms = known.includes("$NAME") ? [...known, "${NAME}"] : known;

  /** The reference for a value: with the label in front if another value has the name, and a number if both are taken. */
  const refer = (name: string, value = `\${${name}}`): string => {
    let chosen = name;
    for (let count = 1; ![undefined, value].includes(variables.get(chosen)); count++)
      chosen = `${toVariable(label)}_${name}${count === 1 ? "" : `_${count}`}`;
    variables.set(chosen, value);
    return `\${${chosen}}`;
  };

  /** A text with the source's references to variables in the config's form. Throws for others. */
  const readText = (place: string, text: string): string =>
    text.replace(anyReference, (match: string): string => {
      // In the form of the config, this is a literal `${`; anywhere else, a dollar sign before a reference.
      if (match.startsWith("$$")) return client ? `$${readText(place, match.slice(1))}` : match;
      const [name] = forms.flatMap((form) => referenceForms[form]?.exec(match)?.[1] ?? []);
      if (name !== undefined) {
        const reference = refer(name.replaceAll("-", "_"));
        return match.includes(":-") ? match : reference;
      }
      const isForeign =
        (match.startsWith("${") && forms.some((form) => form.startsWith("$"))) ||
        (match.startsWith("{file:") && forms.includes("{env:NAME}")) ||
        (match.startsWith("$(") && forms.includes("$(COMMAND)"));
      if (isForeign) throw skip("unsupportedVariable", `${place} has the variable ${match}`);
      // To a client that expands no such reference, it is text.
      return match.startsWith("${") ? `$${match}` : match;
    });

  /** The value of a variable or header: a reference, unless it consists of references already or is plainly harmless. */
  const readValue = (place: "env" | "headers", name: string, value: unknown): string => {
    if (!["string", "number", "boolean"].includes(typeof value))
      throw invalid(`${place}.${name} is not a string, a number or a boolean`);
    const text = String(value);
    const converted = readText(`${place}.${name}`, text);
    const literal = converted.replace(/\$\{\w+\}/g, "");
    if (/^(?:(?:Bearer|Basic|Token) *)?$/i.test(literal)) return converted;
    const written = converted.replace(/\$\{\w+(?::-([^{}]*))?\}/g, (_, fallback: string = "x") => fallback);
    if (!isSecretName(name) && isHarmless(written)) return converted;
    const isVariable = place === "env" && /^[A-Za-z_]\w*$/.test(name);
    return refer(isVariable ? name : toVariable(name), text);
  };

  const readValues = (place: "env" | "headers", values: unknown = {}): Record<string, string> => {
    if (!isRecord(values)) throw invalid(`${place} is not an object`);
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, readValue(place, name, value)]),
    );
  };
  return { refer, readText, readValues };
}

const commandKeys = ["command", ...clients.flatMap(({ shape }) => shape.command ?? [])];
const urlKeys = ["url", "serverUrl", "httpUrl", "uri"];

/**
 * Keys that are read, or have no effect on the server: the transport follows from the command or the URL, the name is the
 * label, and variables that clients pass on by name reach every server of the config.
 */
const plainKeys = ["type", "transport", "name", "source", "disabled", "enabled", "$schema", "description"];
const keysOfCommands = [...commandKeys, ...environmentKeys, "args", "cwd", "env_vars", "env_keys"];
const keysOfAddresses = [...urlKeys, ...headerKeys, "bearer_token_env_var", "env_http_headers"];

type Entry = Readonly<Record<string, unknown>>;

const pick = (entry: Entry, keys: readonly string[]) =>
  keys.map((key) => entry[key]).find((value) => value !== undefined && value !== null);

const isEmpty = (value: unknown) =>
  value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);

/** Whether a key of an entry chooses tools: without it, more tools would be offered. An empty list of those that are allowed allows none. */
const isChoice = ([key, value]: [string, unknown]) =>
  /tool/i.test(key) &&
  (isText(value) || typeof value === "object") &&
  (!isEmpty(value) || (Array.isArray(value) && /^(?:(?:includ|enabl|allow)[a-z]*_?)?tools$/i.test(key)));

/** Whether a command line starts Trailblaze. */
function isSelf(words: readonly string[]): boolean {
  const own =
    /(?:^|[\\/])trailblaze(?:@[^\\/]*)?$|[\\/]trailblaze[\\/].*cli\.c?js$|^require\('trailblaze\/cli'\)$|[\\/]dist[\\/]cli[\\/]cli\.cjs$/;
  return words.slice(0, Math.max(words.indexOf("start"), 0)).some((word) => own.test(word));
}

/** The entry of the config for one of a client, and what differs, as sentences. Throws `SkippedError`. */
function readEntry(label: string, value: unknown, { refer, readText, readValues }: Reader) {
  if (!isRecord(value)) throw invalid("it is not an object");
  const command = pick(value, commandKeys);
  const url = pick(value, urlKeys);
  if (command !== undefined && url !== undefined) throw invalid("it has both a command and a URL");
  const { tools, ...others } = value;
  const isAll = Array.isArray(tools) && tools.includes("*");
  const [choice] = Object.entries(isAll ? others : value).find(isChoice) ?? [];
  if (choice !== undefined)
    throw invalid(`${choice} chooses its tools: add the server by hand, with "tools: { allow, deny }"`);
  if (command === undefined && url === undefined) throw invalid("it has neither a command nor a URL");
  const isRemote = command === undefined;
  const words = isRemote ? [url] : [command, value.args ?? []].flat();
  if (!words.every(isText))
    throw invalid(isRemote ? "its URL is not a string" : "its command line has other values than strings");
  const [first = "", ...args] = words;
  const entry: JsonRecord = {};
  if (isRemote) {
    if (value.type === "sse" || value.transport === "sse") throw invalid("its transport is sse");
    entry.url = readText("url", first);
    const headers = readValues("headers", pick(value, headerKeys));
    // Codex names variables with the values of headers.
    const { bearer_token_env_var: bearer, env_http_headers: named } = value;
    if (isText(bearer)) headers.Authorization = `Bearer ${refer(bearer)}`;
    for (const [name, variable] of isRecord(named) ? Object.entries(named) : [])
      if (isText(variable)) headers[name] = refer(variable);
    if (!isEmpty(headers)) entry.headers = headers;
  } else {
    if (isSelf(words)) throw skip("self");
    const env = readValues("env", pick(value, environmentKeys));
    entry.command = readText("command", first);
    if (args.length > 0) entry.args = args.map((word) => readText("args", word));
    if (isText(value.cwd)) entry.cwd = readText("cwd", value.cwd);
    if (!isEmpty(env)) entry.env = env;
  }
  if (value.disabled === true || value.enabled === false) entry.enabled = false;
  const known = [...plainKeys, ...(isRemote ? keysOfAddresses : keysOfCommands)];
  const lost = Object.keys(others).filter((key) => !known.includes(key) && !isEmpty(value[key]));
  const notes = lost.map((key) => `the key ${quote(key)} was not imported`);
  const secret = isRemote ? "its URL looks like it has a secret" : "an argument looks like a secret";
  if (looksSecret(words).includes(true)) notes.unshift(`${secret} and was imported as it is`);
  return { entry, notes: notes.map((note) => `Server ${quote(label)}: ${note}.`) };
}

/** What the user chose for a server of the config, which stays when an import replaces it. */
const choiceKeys = ["prefix", "toolset", "tools", "context", "legacyContext"];

/**
 * Plans the import of MCP servers from a client's config, a file or stdin into the project's config. Values that look
 * secret become references to variables. Writes nothing; the source is never changed.
 *
 * Throws `TrailblazeError`: `UnknownClient`, `UnknownInstallLocation`, `NoProjectScope`, `ClientConfigNotFound`,
 * `ClientConfigMalformed` (also for a source without servers), `ServerNotFound` for a name of `only` that the source does
 * not have, `ProjectNotFound`, `InvalidConfig`.
 */
export async function planImport(source: string, options: ImportOptions) {
  const { only, replace } = options;
  const { directory } = findProject(port, options.cwd);
  const servers = await readProjectServers(directory);
  const folders = [directory, resolve(options.cwd)].flatMap((folder) => [folder, realpathSync(folder)]);
  const { client, entries: found } = await readServers(source, options, folders);
  const missing = only.find((name) => !found.has(name));
  if (missing !== undefined) throw unknownName("ServerNotFound", missing, [...found.keys()]);
  const taken = new Map(servers.map((server) => [String(server.label).toLowerCase(), server]));
  let variables = new Map<string, string>();
  const skipped: { name: string; reason: SkipReason; detail?: string }[] = [];
  const entries: EntryToWrite[] = [];
  const notes: string[] = [];

  for (const [name, value] of found) {
    const label = name.replaceAll("/", "-");
    // Those of an entry that is skipped are not needed.
    const needed = new Map(variables);
    try {
      if (only.length > 0 && !only.includes(name)) throw skip("notSelected");
      const imported = readEntry(label, value, createReader(label, client, needed));
      const existing = taken.get(label.toLowerCase());
      const isAdded = entries.some((one) => one.label.toLowerCase() === label.toLowerCase());
      if (isAdded || (existing !== undefined && !replace)) throw skip("exists");
      if (existing?.isPasted === false)
        throw skip("exists", "in trailblazeSubprocessToolsets, to be replaced by hand");
      await readConfig(port, { directory, config: { mcpServers: { [label]: imported.entry } } });
      const choices = Object.entries(existing?.values ?? {}).filter(([key]) => choiceKeys.includes(key));
      const entry = { ...imported.entry, ...Object.fromEntries(choices) } as JsonRecord;
      entries.push({ label: String(existing?.label ?? label), entry });
      variables = needed;
      notes.push(...imported.notes);
    } catch (error) {
      const isRefused = error instanceof TrailblazeError && error.code === "InvalidConfig";
      if (!(error instanceof SkippedError || isRefused)) throw error;
      const reason = error instanceof SkippedError ? error.cause : "invalid";
      skipped.push(error.message === "" ? { name, reason } : { name, reason, detail: error.message });
    }
  }
  const edit = await planConfigEdit(directory, entries);
  return { added: entries.map(({ label }) => label), skipped, variables: [...variables.keys()], notes, edit };
}
