import { realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../data/parse-json.ts";
import { findProject } from "../discovery/project.ts";
import { findWorkspace } from "../discovery/workspace.ts";
import { valueAt } from "../extension-schema/pointer.ts";
import { editConfigFile, findRealFile, readConfigFile } from "../files/edit.ts";
import { attempt } from "../files/file-errors.ts";
import { isBelow } from "../files/inspection-port.ts";
import { inspectionPort as port } from "../files/node-inspection-port.ts";
import { findUserFolder } from "../files/user-folders.ts";
import { failure, printable, quote, TrailblazeError } from "../problems/index.ts";
import { formatQualifiedName, parseQualifiedName } from "../qualified-names/qualified-name.ts";
import { type ClientRecord, findClient, type Scope } from "./clients/index.ts";
import { chooseFile, findCandidates, readHost } from "./clients/locations.ts";
import { ConfigDocument, editEntries } from "./editing/config-document.ts";
import { type EditedFormat, type JsonRecord, toPlain } from "./editing/config-format.ts";
import { buildEntry, createCommand, matchEntry, mergeEntry, readEnvironment } from "./entry.ts";

/** Options of `planInstall` and `planUninstall`, which takes the same and has no use for `env` and `force`. */
export interface InstallOptions {
  cwd?: string | undefined;
  scope?: Scope | undefined;
  /** Path of the file to edit, instead of the client's own. */
  file?: string | undefined;
  /** The key of the entry. */
  name?: string | undefined;
  /** `NAME=VALUE`, or `NAME` to keep the value out of the file; or an object, with `null` for no value. */
  env?: readonly string[] | Readonly<Record<string, string | null | undefined>> | undefined;
  /** Replaces an entry that Trailblaze did not write, or that starts a server in another project. */
  force?: boolean | undefined;
}

/**
 * What an install or an uninstall would do. Plain data: it can be stored and applied. `entry` contains the values of variables,
 * which may be secrets.
 */
export interface InstallPlan {
  /** The client's id. */
  client: string;
  /**
   * Qualified name of a server, or of a pack without servers; the name of a server in the project's config; `null` for the
   * project's session.
   */
  server: string | null;
  /** Absolute path, as the client knows it. */
  file: string;
  /** The entry's key in the client's config. */
  key: string;
  changed: boolean;
  /** Unified diff; empty if nothing changes. Marks hidden values that change. */
  diff: string;
  scope: Scope;
  /** The entry to write, `null` to remove it. */
  entry: JsonRecord | null;
  /** Replaces or removes an entry that Trailblaze did not write. */
  force: boolean;
  /** What users should know, as sentences. */
  notes: string[];
}

function findFiles(
  client: ClientRecord,
  { scope = "user", file, cwd = process.cwd() }: InstallOptions,
): string[] {
  if (file !== undefined) return [resolve(cwd, file)];
  if (scope === "project" && client.project === undefined)
    throw failure("NoProjectScope", { client: client.name });
  const host = readHost();
  const project = scope === "project" ? findProject(port, cwd).directory : "";
  const found = findCandidates(client, scope, host, project);
  if (found.length > 0) return found;
  const variable = host.platform === "win32" ? "USERPROFILE" : "HOME";
  const isHomeMissing = host.home === undefined;
  const reason = isHomeMissing ? `${variable} is not set` : "it has no fixed location on this system";
  throw failure("UnknownInstallLocation", { client: client.name, reason });
}

export const findFile = (client: ClientRecord, options: InstallOptions): string =>
  chooseFile(findFiles(client, options)) ?? "";

type Target = Pick<InstallPlan, "file" | "key" | "server" | "scope" | "entry" | "force">;

const formatOf = ({ format, isList }: ClientRecord): EditedFormat => (isList ? "tomlList" : format);

function chooseContainer(
  { newerContainer, container }: ClientRecord,
  { root }: ConfigDocument,
): readonly string[] {
  if (newerContainer === undefined) return container;
  const newer = valueAt(root, newerContainer);
  // An entry in the older container, which has a type, may have the name of the newer container.
  return isRecord(newer) && typeof newer.type !== "string" ? newerContainer : container;
}

/** The existing project in which an entry starts its server, if it is not the one that another entry is for. */
function findOtherProject(entry: unknown, wanted: JsonRecord): string | undefined {
  const than = matchEntry(wanted)?.folder;
  const folder = matchEntry(entry)?.folder;
  if (folder === undefined || than === undefined) return undefined;
  const [real, other] = [folder, than].map((path) => attempt(() => realpathSync(path)));
  return real === undefined || real === other ? undefined : folder;
}

/**
 * Decides on an edit of a client's file, given its current text. An entry is Trailblaze's by its command line. Throws
 * `TrailblazeError`: `ClientConfigMalformed`, `ClientConfigConflict`, `ClientConfigUnwritable`.
 */
function decideEdit(client: ClientRecord, target: Target, text: string | undefined) {
  const { file, key, server, entry: wanted, force } = target;
  const notes: string[] = [];
  const edited = editEntries(file, formatOf(client), text, (config) => {
    const place = { container: chooseContainer(client, config), key };
    const entry = config.get(place);
    const started = matchEntry(entry);
    const isOwn = started?.server === server;
    // What another program wrote is not shown.
    const before = started === undefined ? undefined : (entry as JsonRecord);
    if (wanted === null) {
      if (isOwn) return [{ place, before, after: undefined }];
      if (entry !== undefined)
        notes.push(
          `Entry "${key}" in ${file} was kept, because Trailblaze did not write it for this server.`,
        );
      return [];
    }
    const project = isOwn ? findOtherProject(entry, wanted) : undefined;
    const isReplaced = entry !== undefined && (!isOwn || project !== undefined);
    if (isReplaced && !force)
      throw failure("ClientConfigConflict", { file, key, owner: started?.server, project }, { file });
    const after = before === undefined || isReplaced ? wanted : mergeEntry(client, before, wanted);
    const isSame = isDeepStrictEqual(toPlain(entry), toPlain(after));
    return isSame ? [] : [{ place, before, after }];
  });
  if (wanted !== null && client.format === "json" && text?.trim() && !attempt(() => JSON.parse(text))) {
    const what = text.startsWith("\uFEFF")
      ? "starts with a byte order mark"
      : "has comments or trailing commas";
    notes.push(`The file ${what}, which ${client.name} may not be able to read.`);
  }
  return { ...edited, notes };
}

function findOwnEntries(client: ClientRecord, file: string) {
  const config = new ConfigDocument(file, formatOf(client), readConfigFile(file) ?? "");
  return [...config.entries(chooseContainer(client, config))].flatMap(([key, value]) => {
    const started = matchEntry(value);
    return started === undefined ? [] : [{ file, key, server: started.server }];
  });
}

async function createPlan(
  client: ClientRecord,
  target: Target,
  options: InstallOptions,
  nextSteps: readonly string[],
): Promise<InstallPlan> {
  await refuseLinkOut(target.file, options);
  const { changed, diff, notes } = decideEdit(client, target, readConfigFile(target.file));
  return { client: client.id, ...target, changed, diff, notes: [...notes, ...nextSteps] };
}

/** Throws `ClientConfigUnwritable` if a link leads a file of the project out of the project and its workspace. */
export async function refuseLinkOut(file: string, options: InstallOptions): Promise<void> {
  if (options.scope !== "project" || options.file !== undefined) return;
  const project = findProject(port, options.cwd ?? process.cwd());
  const { root } = await findWorkspace(port, project);
  const realFile = findRealFile(file);
  if (isBelow(root, realFile)) return;
  const reason = `it leads to ${realFile}, outside the project`;
  throw failure("ClientConfigUnwritable", { file, reason }, { file });
}

function describeNextSteps(client: ClientRecord, scope: Scope, omitted: readonly string[]): string[] {
  const notes: string[] = [];
  if (omitted.length > 0) {
    notes.push(
      `Omitted, because ${client.name} entries cannot refer to environment variables: ${omitted.join(", ")}. ` +
        `Set this in the environment of ${client.name}, or add it to the entry by hand.`,
    );
  }
  notes.push(`Restart ${client.name}, or start a new session in it, to load the new configuration.`);
  if (scope === "project") {
    if (client.approval !== undefined) notes.push(client.approval);
    notes.push(
      "The entry starts the trailblaze package of the project, which must be one of its dependencies.",
    );
  }
  return notes;
}

/**
 * What a reference to a server means; `null` is the session. `server`: without a version range. `started`: with it. `name`: its
 * short name, or the key in the config. Throws `InvalidQualifiedName`.
 */
function normalizeServer(
  reference: string | null,
): Record<"server" | "started", string | null> & { name: string } {
  if (reference === null) return { server: null, started: null, name: "trailblaze" };
  // The npm name of a pack.
  if (/^@[^/]+\/[^/]+$/.test(reference)) return normalizeServer(reference.slice(1));
  if (typeof reference === "string" && !reference.includes("/"))
    return { server: reference, started: reference, name: reference };
  const parsed = parseQualifiedName(reference);
  const server = formatQualifiedName({ ...parsed, range: undefined });
  return { server, started: formatQualifiedName(parsed), name: parsed.item };
}

/**
 * Finds a server as `start` does; without a reference, the session. Checks all its references. Runs nothing. Throws the same
 * `TrailblazeError` as `start`, such as `ServerNotFound` and `PackNotInstalled`.
 */
export async function resolveServer(reference: string | null, { cwd }: { cwd: string }) {
  const { findServer } = await import("../serve/compose-server.ts");
  const normal = normalizeServer(reference);
  const { directory: project } = findProject(port, cwd);
  const target = reference === null ? undefined : await findServer(reference, { cwd, lock: "off" });
  const { name = normal.name, definition, ofPack } = target ?? {};
  return {
    server: ofPack ?? normal.server,
    started: ofPack ?? normal.started,
    name,
    mcpServerName: definition?.mcpServerName as string | undefined,
    // A server of the config gets the whole environment of the process that starts it.
    envPassthrough: definition?.envPassthrough as readonly string[] | undefined,
    isHttp: target?.transport === "http",
    project,
  };
}

/** Whether a client accepts a key: it is printable, has at most 128 characters, and is as its record says. */
const isValidKey = (key: string, { keyPattern = "" }: ClientRecord): boolean =>
  /^(?!__proto__$)\S(?:.{0,126}\S)?$/u.test(key) &&
  printable(key) === key &&
  new RegExp(keyPattern, "u").test(key);

/** The key of the entry: the requested one, otherwise the author's, otherwise the server's. Throws `InvalidArguments`. */
function chooseKey(
  client: ClientRecord,
  asked: string | undefined,
  { name, mcpServerName = name }: Awaited<ReturnType<typeof resolveServer>>,
): string {
  const fitting = mcpServerName.replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^-+|-+$/g, "");
  const usual = [mcpServerName, fitting].find((key) => isValidKey(key, client)) ?? name;
  const chosen = asked ?? usual;
  if (isValidKey(chosen, client)) return chosen;
  const reason = `${client.name} does not accept the entry name ${quote(chosen)}`;
  const hint = "Choose another name with --name, such as one of letters, digits and dashes.";
  throw failure("InvalidArguments", { reason, hint });
}

/**
 * Plans the installation of a server into an MCP client's config; `null` installs the project's session, one entry with the
 * tools of all packs. Writes nothing. Checks every reference of the server, and reads definitions as inspection does.
 *
 * Throws `TrailblazeError`: `UnknownClient`, `UnknownInstallLocation`, `NoProjectScope`, `ClientConfigMalformed`,
 * `ClientConfigConflict`, `ClientConfigUnwritable`, `InvalidArguments`, and errors of finding the server.
 */
export async function planInstall(
  clientName: string,
  reference: string | null,
  options: InstallOptions = {},
): Promise<InstallPlan> {
  const client = findClient(clientName);
  const { scope = "user", cwd = process.cwd(), name, env, force = false } = options;
  const file = findFile(client, options);
  const resolved = await resolveServer(reference, { cwd });
  const { server, started, project, isHttp, envPassthrough = [] } = resolved;
  const key = chooseKey(client, name, resolved);
  const variables = readEnvironment(env, envPassthrough);
  const command = createCommand(scope, project, { server: started, isHttp });
  const { entry, omitted } = buildEntry(client, key, command, variables);
  const nextSteps = describeNextSteps(client, scope, omitted);
  return createPlan(client, { file, key, server, scope, entry, force }, options, nextSteps);
}

type OwnEntry = Pick<InstallPlan, "file" | "key" | "server">;

/** The entries that a reference names: those of one server, or of the servers of a pack that was removed, or one with that key. */
async function chooseEntries(
  own: readonly OwnEntry[],
  reference: string | null,
  cwd: string,
): Promise<OwnEntry[]> {
  const { server } = normalizeServer(reference);
  if (server === null) return own.filter((entry) => entry.server === null);
  try {
    const found = await resolveServer(reference, { cwd });
    return own.filter((entry) => entry.server === found.server);
  } catch (error) {
    if (!(error instanceof TrailblazeError) || error.code === "AmbiguousName") throw error;
  }
  // The server or its pack may have been removed.
  const ofPack = own.filter((entry) => entry.server === server || entry.server?.startsWith(`${server}/`));
  return ofPack.length > 0 ? ofPack : own.filter(({ key }) => key === reference);
}

/**
 * Plans the removal of a server from an MCP client's config; without a change if there is no entry. The server itself may be
 * missing. Writes nothing. Throws like `planInstall`, except for errors of finding the server.
 */
export async function planUninstall(
  clientName: string,
  reference: string | null,
  options: InstallOptions = {},
): Promise<InstallPlan> {
  const client = findClient(clientName);
  const { scope = "user", cwd = process.cwd(), name } = options;
  const { server, name: itemName } = normalizeServer(reference);
  const entries = findFiles(client, options).flatMap((file) => findOwnEntries(client, file));
  const chosen = await chooseEntries(entries, reference, cwd);
  const named = name === undefined ? chosen : chosen.filter(({ key }) => key === name);
  const [place, second] = named;
  if (place !== undefined && second !== undefined) {
    const names = named.map(({ key }) => JSON.stringify(key)).join(", ");
    const reason = `${client.name} has several entries that start ${server ?? "the session"}: ${names}`;
    throw failure("InvalidArguments", { reason, hint: "Choose one with --name." });
  }
  const own = place ?? { file: findFile(client, options), key: name ?? itemName, server };
  return createPlan(client, { ...own, scope, entry: null, force: false }, options, []);
}

/** What was done. */
export interface InstallResult
  extends Pick<InstallPlan, "client" | "server" | "file" | "key" | "changed" | "diff"> {
  /** Absolute path of a backup of the file; `null` if there was no file, or nothing changed. */
  backup: string | null;
}

/**
 * Applies a plan to the current file: if it changed since the plan, the edit is decided again.
 *
 * Trust level: execution. Writes the client's file, and a backup in the user's state folder. Throws
 * `TrailblazeError` and leaves the file unchanged: as `planInstall`, and `ClientConfigUnwritable`.
 */
export async function applyPlan(plan: InstallPlan): Promise<InstallResult> {
  const { client: id, server, file, key, scope } = plan;
  const client = findClient(id);
  const decide = (text: string | undefined) => decideEdit(client, plan, text);
  const realFile = findRealFile(file);
  // Without a change, the file is not locked and its folder is not created.
  if (!decide(readConfigFile(realFile)).changed)
    return { client: id, server, file, key, changed: false, backup: null, diff: "" };
  const { home } = readHost();
  const { decision, backup } = await editConfigFile(realFile, decide, {
    newMode: scope === "user" ? 0o600 : 0o644,
    // Without a state folder, a file that exists is not edited.
    backups: join(findUserFolder("state") ?? "/nonexistent", "trailblaze/backups"),
    keptFolders: [process.cwd(), ...(home === undefined ? [] : [home])],
  });
  return { client: id, server, file, key, changed: decision.changed, backup, diff: decision.diff };
}
