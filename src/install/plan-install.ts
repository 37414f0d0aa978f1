import { isAbsolute, relative, resolve } from "node:path";
import { readConfig } from "../config/read-config.ts";
import { findProject } from "../discovery/project.ts";
import { managerIn } from "../discovery/project-manager.ts";
import { findWorkspace } from "../discovery/workspace.ts";
import { fileExists, findRealFile, readConfigFile } from "../files/edit.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { failure, listOf, TrailblazeError } from "../problems/index.ts";
import { formatInstall } from "../problems/text.ts";
import type { ClientRecord, Scope } from "./clients/client.ts";
import { findClient } from "./clients/index.ts";
import { findCandidates, readHost } from "./clients/locations.ts";
import { decideEdit, type EditDecision, findOwnEntries } from "./decide-edit.ts";
import { loadEditor } from "./editing/config-document.ts";
import { buildEntry, createLaunch, isInNpxCache } from "./entry.ts";
import {
  chooseKey,
  type InstallOptions,
  isWebAddress,
  normalizeServer,
  readEnvironment,
  readHeaders,
} from "./install-request.ts";
import { findOwnScript, hasOwnCopy } from "./own-command.ts";
import type { InstallPlan } from "./plan.ts";

/** The candidates for the client's file, best first. Throws `TrailblazeError` if there are none. */
export function findFiles(
  client: ClientRecord,
  { scope = "user", file, cwd = process.cwd() }: InstallOptions,
  project: () => string,
): string[] {
  if (scope !== "user" && scope !== "project") {
    const hint = "Pass user or project.";
    throw failure("InvalidArguments", { reason: `Unknown scope "${String(scope)}"`, hint });
  }
  if (file !== undefined) return [resolve(cwd, file)];
  if (scope === "project" && client.project === undefined) {
    throw failure("NoProjectScope", { client: client.name });
  }
  const host = readHost();
  const found = findCandidates(client, scope, host, scope === "project" ? project() : "");
  if (found.length > 0) return found;
  const isHomeMissing = findCandidates(client, scope, { ...host, home: "/" }, "").length > 0;
  const variable = host.platform === "win32" ? "USERPROFILE" : "HOME";
  const reason = isHomeMissing ? `${variable} is not set` : "it has no fixed location on this system";
  const hint = `${isHomeMissing ? `Set ${variable}, or pass` : "Pass"} the config file with --file.`;
  throw failure("UnknownInstallLocation", { client: client.name, reason, hint });
}

type Target = Pick<InstallPlan, "file" | "key" | "server" | "scope" | "edit">;

async function finishPlan(
  client: ClientRecord,
  target: Target,
  notes: (decision: EditDecision) => string[],
): Promise<InstallPlan> {
  const { file, key, server, scope, edit } = target;
  const { format } = client;
  const editor = await loadEditor(format);
  const text = readConfigFile(file);
  const decision = decideEdit(client, editor, target, text);
  const { changed, diff } = decision;
  const described = [...decision.notes, ...notes(decision)];
  return { client: client.id, server, file, key, changed, diff, scope, format, edit, notes: described };
}

/** Throws `ClientConfigUnwritable` if a link leads a file of the project out of the project and its workspace. */
async function refuseLinkOut(file: string, options: InstallOptions): Promise<void> {
  if (options.scope !== "project" || options.file !== undefined) return;
  const port = createNodeDiscoveryPort();
  const project = findProject(port, options.cwd ?? process.cwd());
  const { root } = await findWorkspace(port, project);
  const realFile = findRealFile(file);
  const path = relative(root, realFile);
  if (!path.startsWith("..") && !isAbsolute(path)) return;
  const reason = `it leads to ${realFile}, outside the project`;
  throw failure("ClientConfigUnwritable", { file, reason }, { file });
}

/** Throws because npx's copy of this command is temporary. */
async function refuseCache(directory: string): Promise<never> {
  const port = createNodeDiscoveryPort();
  const workspace = await findWorkspace(port, findProject(port, directory));
  const install = formatInstall(managerIn(port, workspace), "trailblaze");
  throw failure("InvalidArguments", {
    reason:
      "An entry cannot refer to npx's cache, from which this command runs, because the cache is temporary",
    hint: `Run ${install} first, then npx trailblaze install …; or pass --scope project.`,
  });
}

/** Throws for a URL, or what it is given with, that the client's config cannot have. */
function checkAddress(
  { name, shape: { address } }: ClientRecord,
  url: string,
  headers: readonly string[],
  variables: readonly string[],
): void {
  const refuse = (reason: string, hint?: string) => failure("InvalidArguments", { reason, hint });
  if (!isWebAddress(url)) throw refuse(`"${url}" is not an http or https URL`);
  if (address === undefined) throw refuse(`Trailblaze does not know how ${name} configures a server by URL`);
  if (variables.length > 0)
    throw refuse("Variables cannot reach a server that already runs", "Omit --env, or omit --url.");
  if (headers.length > 0 && address.headers === undefined)
    throw refuse(`Trailblaze does not know how ${name} configures HTTP headers`, "Omit --header.");
}

interface NextSteps {
  scope: Scope;
  names: readonly string[];
  omitted: readonly string[];
  /** Names of HTTP headers, whose values are in the entry. */
  headerNames: readonly string[];
  /** False for a project's entry if the project does not depend on `trailblaze`; a global one does not count. */
  canStart: boolean;
}

/** Notes for users about a new entry, as sentences. */
function describeNextSteps(
  client: ClientRecord,
  { scope, names, omitted, headerNames, canStart }: NextSteps,
): string[] {
  const notes: string[] = [];
  if (omitted.length > 0) {
    const [were, them] = omitted.length === 1 ? ["was", "it"] : ["were", "them"];
    notes.push(
      `${listOf(omitted, "and")} ${were} omitted, because ${client.name} entries cannot refer to environment variables: ` +
        `set ${them} in the environment of ${client.name}, or add ${them} to the entry by hand.`,
    );
  } else if (names.length > 0) {
    notes.push(`${client.name} reads ${listOf(names, "and")} from its own environment.`);
  }
  if (headerNames.length > 0) {
    const whose = `The file contains the value of ${listOf(headerNames, "and")} in plain text`;
    notes.push(scope === "project" ? `${whose}: do not commit a secret.` : `${whose}.`);
  }
  notes.push(`Restart ${client.name}, or start a new session in it, to load the new configuration.`);
  if (scope === "project") {
    if (client.approval !== undefined) notes.push(client.approval);
    notes.push(
      "The entry starts the trailblaze package of the project, so everyone who uses the file must install the project's " +
        "dependencies.",
    );
    if (!canStart)
      notes.push(
        "The project does not depend on trailblaze, so the entry cannot start yet: add trailblaze to devDependencies.",
      );
  }
  return notes;
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
  const { scope = "user", cwd = process.cwd(), name, env, force = false, url } = options;
  const headers = readHeaders(options);
  const normal = normalizeServer(reference);
  const project = () => findProject(createNodeDiscoveryPort(), cwd).directory;
  const candidates = findFiles(client, options, project);
  const { resolveServer } = await import("./resolve-server.ts");
  const resolved = await resolveServer(reference, { cwd });
  const { ofPack } = resolved;
  const { server, started } = ofPack === undefined ? normal : { server: ofPack, started: ofPack };
  const key = chooseKey(client, name, resolved);
  const environment = readEnvironment(env, resolved.envPassthrough);
  const headerNames = Object.keys(headers);
  if (url !== undefined) checkAddress(client, url, headerNames, Object.keys(env ?? {}));
  const script = findOwnScript(resolved.project);
  if (url === undefined && scope === "user" && isInNpxCache(script)) await refuseCache(resolved.project);
  const launch =
    url !== undefined
      ? { url, headers }
      : createLaunch({
          scope,
          server: started,
          project: resolved.project,
          isHttp: resolved.transport === "http",
          node: process.execPath,
          script,
        });
  const { entry, omitted } = buildEntry(client, key, launch, environment);
  const file = candidates.find((one) => fileExists(one)) ?? candidates[0] ?? "";
  const target: Target = { file, key, server, scope, edit: { action: "install", entry, force } };
  await refuseLinkOut(file, options);
  const canStart = scope !== "project" || url !== undefined || hasOwnCopy(resolved.project);
  const { names } = environment;
  return finishPlan(client, target, () =>
    describeNextSteps(client, { scope, names, omitted, headerNames, canStart }),
  );
}

/** Whether an entry is meant, by what it starts (`null` for the session) and its key. */
type EntryFilter = (started: string | null, key: string) => boolean;

/**
 * The filters for the entries that a reference names, best first: those of one server, or of every server of a pack that was
 * removed. A name that no server has may be the key of an entry.
 */
async function createEntryFilters(
  reference: string | null,
  server: string | null,
  cwd: string,
): Promise<EntryFilter[]> {
  if (reference === null || server === null) return [(started) => started === null];
  const { findServer } = await import("../serve/compose-server.ts");
  const port = createNodeInspectionPort();
  try {
    const { directory } = findProject(port, cwd);
    const config = await readConfig(port, { directory, cwd });
    const { ofPack } = await findServer(reference, { port, config, builtIns: config.builtIns, cwd });
    return [(started) => started === (ofPack ?? server)];
  } catch (error) {
    if (!(error instanceof TrailblazeError) || error.code === "AmbiguousName") throw error;
  }
  // The server or its pack may have been removed.
  return [
    (started) => started === server || started?.startsWith(`${server}/`) === true,
    (_, key) => key === reference,
  ];
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
  const { scope = "user", cwd = process.cwd(), name, force = false } = options;
  const { server, name: itemName } = normalizeServer(reference);
  const project = () => findProject(createNodeDiscoveryPort(), cwd).directory;
  const candidates = findFiles(client, options, project);
  const editor = await loadEditor(client.format);
  const present = candidates.filter((file) => fileExists(file));
  const places: { file: string; key: string; server: string | null }[] = [];
  const own = [];
  for (const file of present) {
    const text = readConfigFile(file);
    for (const entry of findOwnEntries(client, editor, file, text)) own.push({ file, ...entry });
  }
  for (const isMeant of await createEntryFilters(reference, server, cwd)) {
    if (places.length === 0) places.push(...own.filter((entry) => isMeant(entry.server, entry.key)));
  }
  const named = name === undefined ? places : places.filter(({ key }) => key === name);
  const [place, second] = named;
  if (place !== undefined && second !== undefined) {
    const names = named.map(({ key }) => JSON.stringify(key)).join(", ");
    const reason = `${client.name} has several entries that start ${server ?? "the session"}: ${names}`;
    throw failure("InvalidArguments", { reason, hint: "Choose one with --name." });
  }
  const file = place?.file ?? present[0] ?? candidates[0] ?? "";
  const key = place?.key ?? name ?? itemName;
  const started = place === undefined ? server : place.server;
  const target: Target = { file, key, server: started, scope, edit: { action: "uninstall", force } };
  await refuseLinkOut(file, options);
  return finishPlan(client, target, ({ changed }) => {
    const isShared = scope === "project" && /(?:^|[\\/])\.mcp\.json$/.test(file);
    return changed && isShared
      ? ["Other clients also read .mcp.json, so the entry is removed for them, too."]
      : [];
  });
}
