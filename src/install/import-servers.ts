import { isUtf8 } from "node:buffer";
import { realpathSync } from "node:fs";
import { normalize, resolve } from "node:path";
import { readConfig } from "../config/read-config.ts";
import { isRecord } from "../data/parse-json.ts";
import { findProject } from "../discovery/project.ts";
import { fileExists, readConfigFile } from "../files/edit.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { failure, TrailblazeError } from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/index.ts";
import type { ClientRecord, Scope } from "./clients/client.ts";
import { clients, findClient } from "./clients/index.ts";
import { loadEditor, openConfig } from "./editing/config-document.ts";
import {
  type ConfigFormatName,
  ConfigSyntaxError,
  type JsonRecord,
  valueAt,
} from "./editing/config-format.ts";
import { readImportedEntry } from "./imported-entry.ts";
import { findFiles } from "./plan-install.ts";
import {
  type ConfigEdit,
  type EntryToWrite,
  locateServer,
  planConfigEdit,
  readProjectServers,
} from "./project-config.ts";

export type SkipReason = "self" | "exists" | "notSelected" | "unsupportedVariable" | "invalid";

export interface SkippedServer {
  name: string;
  reason: SkipReason;
  /** For people: the key and the variable that cannot be imported. */
  detail?: string | undefined;
}

export interface ImportOptions {
  cwd: string;
  scope?: Scope | undefined;
  /** Names of the servers to import; default: all. */
  only: readonly string[];
  /** Replaces servers that the config already has. */
  replace: boolean;
  /** Reads stdin, for the source `-`. */
  readInput: () => Promise<Uint8Array>;
}

/** The servers of a source that an import writes into the project's config. */
export interface ImportPlan {
  /** Labels. */
  added: string[];
  skipped: SkippedServer[];
  /** Names of the variables that the added servers need. */
  variables: string[];
  /** What of the added servers was not imported, and what looks secret, for people. */
  notes: string[];
  edit: ConfigEdit;
}

interface Source {
  /** For messages. */
  file: string;
  text: string;
  formats: readonly ConfigFormatName[];
  client: ClientRecord | undefined;
  /** The folders of the project, for clients that keep servers by folder. */
  folders: readonly string[];
}

const formatsByEnding: Readonly<Record<string, ConfigFormatName>> = {
  json: "jsonc",
  jsonc: "jsonc",
  json5: "jsonc",
  toml: "toml",
  yaml: "yaml",
  yml: "yaml",
};

const malformed = (file: string, reason: string) =>
  failure("ClientConfigMalformed", { file, reason, isImport: true }, { file });

function readText(file: string): string {
  const text = readConfigFile(file);
  if (text === undefined) throw failure("ClientConfigNotFound", { file }, { file });
  return text;
}

/** Reads what to import: stdin, a file, whose name has a dot or a slash, or the config of a client. */
async function readSource(source: string, { cwd, scope, readInput }: ImportOptions): Promise<Source> {
  const any: ConfigFormatName[] = ["jsonc", "toml", "yaml"];
  if (source === "-") {
    const bytes = await readInput();
    if (!isUtf8(bytes)) throw malformed("stdin", "it is not UTF-8");
    return { file: "stdin", text: String(Buffer.from(bytes)), formats: any, client: undefined, folders: [] };
  }
  if (/[./\\]/.test(source)) {
    const file = resolve(cwd, source);
    const format = formatsByEnding[/\.(\w+)$/.exec(file)?.[1]?.toLowerCase() ?? ""];
    const formats = format === undefined ? any : [format];
    return { file, text: readText(file), formats, client: undefined, folders: [] };
  }
  const client = findClient(source);
  const { directory } = findProject(createNodeInspectionPort(), cwd);
  const candidates = findFiles(client, { cwd, scope }, () => directory);
  const file = candidates.find((one) => fileExists(one)) ?? candidates[0] ?? "";
  const folders = [directory, resolve(cwd)].flatMap((folder) => [folder, realpathSync(folder)]);
  return { file, text: readText(file), formats: [client.format], client, folders };
}

const isEntry = (value: unknown): boolean =>
  isRecord(value) &&
  Object.keys(value).some((key) => /^(?:command|cmd|url|serverUrl|httpUrl|uri)$/.test(key));

/** Adds the entries of a container to others. */
function collectEntries(value: unknown, entries: Map<string, unknown>): void {
  if (Array.isArray(value)) {
    for (const entry of value) if (isRecord(entry)) entries.set(String(entry.name), entry);
  } else if (isRecord(value)) {
    for (const [name, entry] of Object.entries(value)) entries.set(name, entry);
  }
}

/** The entries of a config: in the container of the client, or of any client, or at the top of a pasted object. */
function findEntries(
  root: Record<string, unknown>,
  { client, folders }: Pick<Source, "client" | "folders">,
): Map<string, unknown> {
  // VS Code's settings have the containers of its own config under `mcp`.
  const inSettings = client === undefined ? [["mcp", "servers"]] : [];
  const containers = (client === undefined ? clients : [client]).flatMap(({ container, newerContainer }) =>
    newerContainer === undefined ? [container] : [newerContainer, container],
  );
  const entries = new Map<string, unknown>();
  for (const container of [...inSettings, ...containers]) {
    collectEntries(valueAt(root, container), entries);
    if (entries.size > 0) break;
  }
  const { byFolder, container = [], disabledNames } = client ?? {};
  const ofFolders = byFolder && valueAt(root, byFolder);
  const ofProject = Object.entries(isRecord(ofFolders) ? ofFolders : {}).flatMap(([folder, settings]) =>
    folders.includes(normalize(folder)) ? [settings] : [],
  );
  for (const settings of ofProject) collectEntries(valueAt(settings, container), entries);
  for (const settings of byFolder === undefined ? [root] : ofProject) {
    const names = disabledNames && valueAt(settings, disabledNames);
    for (const name of Array.isArray(names) ? names : []) {
      const entry = entries.get(name);
      if (isRecord(entry)) entries.set(name, { ...entry, disabled: true });
    }
  }
  if (client !== undefined || entries.size > 0) return entries;
  return new Map(Object.entries(root).filter(([, value]) => isEntry(value)));
}

/** Parses a source in the first format that fits. Throws `ClientConfigMalformed`. */
async function parseSource(source: Source): Promise<Map<string, unknown>> {
  const { file, text, formats } = source;
  let error: ConfigSyntaxError | undefined;
  for (const format of formats) {
    // Documentation often shows a property without the braces around it.
    const isProperty = format === "jsonc" && /^\s*"/.test(text);
    const document = openConfig(await loadEditor(format), isProperty ? `{${text}}` : text);
    if (document instanceof ConfigSyntaxError) {
      error ??= document;
      continue;
    }
    const entries = findEntries(document.root, source);
    if (entries.size > 0) return entries;
    error = undefined;
    break;
  }
  throw malformed(file, error === undefined ? "it has no MCP servers" : error.reason);
}

/** What the user chose for a server of the config, which stays when an import replaces it. */
const choiceKeys = ["prefix", "toolset", "tools", "context", "legacyContext"];

/** Why the project's config does not accept an entry. */
async function explainInvalid(
  directory: string,
  { label, entry }: EntryToWrite,
): Promise<string | undefined> {
  try {
    const config = { mcpServers: { [label]: entry } };
    await readConfig(createNodeInspectionPort(), { directory, config });
    return undefined;
  } catch (error) {
    if (error instanceof TrailblazeError && error.code === "InvalidConfig") return error.message;
    throw error;
  }
}

/**
 * Plans the import of MCP servers from a client's config, a file or stdin into the project's config. Values that look
 * secret become references to variables. Writes nothing; the source is never changed.
 *
 * Throws `TrailblazeError`: `UnknownClient`, `UnknownInstallLocation`, `NoProjectScope`, `ClientConfigNotFound`,
 * `ClientConfigMalformed` (also for a source without servers), `ServerNotFound` for a name of `only` that the source does
 * not have, `ProjectNotFound`, `InvalidConfig`.
 */
export async function planImport(source: string, options: ImportOptions): Promise<ImportPlan> {
  const { directory } = findProject(createNodeInspectionPort(), options.cwd);
  const known = await readProjectServers(directory);
  const read = await readSource(source, options);
  const found = await parseSource(read);
  for (const name of options.only) {
    if (found.has(name)) continue;
    const names = [...found.keys()];
    const similar = findNearestNames(name, names);
    const nearest = similar.length > 0 ? similar : names.slice(0, 10);
    throw failure("ServerNotFound", { name, otherKind: undefined, nearest });
  }
  const taken = new Map(known.map((server) => [String(server.label).toLowerCase(), server]));
  let variables: ReadonlyMap<string, string> = new Map();
  const skipped: ImportPlan["skipped"] = [];
  const entries: EntryToWrite[] = [];
  const notes: string[] = [];
  for (const [name, value] of found) {
    const label = name.replaceAll("/", "-");
    const existing = taken.get(label.toLowerCase());
    const isAdded = entries.some((one) => one.label.toLowerCase() === label.toLowerCase());
    const isListed = existing?.isPasted === false;
    const skip = (reason: SkipReason, detail?: string) =>
      skipped.push(detail === undefined ? { name, reason } : { name, reason, detail });
    const imported = readImportedEntry(label, value, read.client, variables);
    if (options.only.length > 0 && !options.only.includes(name)) skip("notSelected");
    else if ("reason" in imported) skip(imported.reason, imported.detail);
    else if (isAdded || isListed || (existing !== undefined && !options.replace)) {
      const place = isListed ? await locateServer(directory, existing) : undefined;
      skip("exists", place && `in ${place}, to be replaced by hand`);
    } else {
      const { entry } = imported;
      const reason = await explainInvalid(directory, { label, entry });
      if (reason !== undefined) {
        skip("invalid", reason);
        continue;
      }
      const choices = Object.entries(existing?.values ?? {}).filter(([key]) => choiceKeys.includes(key));
      const chosen = { ...entry, ...Object.fromEntries(choices) };
      entries.push({ label: String(existing?.label ?? label), entry: chosen as JsonRecord });
      variables = imported.variables;
      notes.push(...imported.notes);
    }
  }
  const edit = await planConfigEdit(directory, { write: entries });
  return { added: entries.map(({ label }) => label), skipped, variables: [...variables.keys()], notes, edit };
}
