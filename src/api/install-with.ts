import { join, resolve } from "node:path";
import { findProject } from "../discovery/project.ts";
import type { ClientRecord } from "../install/clients/client.ts";
import { clients, findClient } from "../install/clients/index.ts";
import { findCandidates, findSigns } from "../install/clients/locations.ts";
import { type CurrentFile, decideEdit, type EditDecision, findKeysOf } from "../install/decide-edit.ts";
import type { ConfigFormatName } from "../install/editing/config-format.ts";
import { loadEditor } from "../install/editing/editors.ts";
import { createLaunch } from "../install/entry/launch.ts";
import { shapeEntry } from "../install/entry/shape-entry.ts";
import { formatDiff } from "../install/format-diff.ts";
import { describeNextSteps, warnOfComments } from "../install/install-notes.ts";
import {
  chooseKey,
  type InstallOptions,
  normalizeServer,
  readEnvironment,
} from "../install/install-request.ts";
import { formatLedger, type Ledger, ledgerFileOf, parseLedger } from "../install/ledger.ts";
import type { InstallPlan, InstallResult } from "../install/plan.ts";
import { ConfigFiles } from "../io/config-files.ts";
import { createNodeDiscoveryPort } from "../io/node-discovery-port.ts";
import { failure } from "../problems/index.ts";
import type { InstallMeans } from "./install-means.ts";

const ledgerPath = ({ stateFolder }: InstallMeans) => join(stateFolder, "installs.json");

const openFiles = ({ stateFolder, waitMs, staleMs, onStep }: InstallMeans) =>
  new ConfigFiles({
    backups: join(stateFolder, "backups"),
    onStep,
    ...(waitMs === undefined ? {} : { waitMs }),
    ...(staleMs === undefined ? {} : { staleMs }),
  });

/** The ledger; one that cannot be read says nothing. */
function readLedger(means: InstallMeans, files: ConfigFiles): Ledger {
  try {
    return parseLedger(files.read(ledgerPath(means)));
  } catch {
    return parseLedger(undefined);
  }
}

/** The files that a request may mean, best first. Throws `TrailblazeError` where there is none. */
function findFiles(
  { surroundings }: InstallMeans,
  client: ClientRecord,
  { scope = "user", file, cwd = process.cwd() }: InstallOptions,
  project: () => string,
): string[] {
  if (scope !== "user" && scope !== "project") {
    const hint = "It is user or project.";
    throw failure("InvalidArguments", { reason: `There is no scope "${String(scope)}"`, hint });
  }
  if (file !== undefined) return [resolve(cwd, file)];
  if (scope === "project" && client.project === undefined) {
    throw failure("NoProjectScope", { client: client.name });
  }
  const found = findCandidates(client, scope, surroundings, scope === "project" ? project() : "");
  if (found.length > 0) return found;
  const args = { client: client.name };
  if (Object.keys(client.user).length === 0) {
    const hint = "Use --scope project, or name the file with --file.";
    throw failure("UnknownInstallLocation", { ...args, reason: "it has no place of its own", hint });
  }
  if (findCandidates(client, scope, { ...surroundings, home: "/" }, "").length === 0) {
    throw failure("UnknownInstallLocation", { ...args, reason: "it has none on this system" });
  }
  const variable = surroundings.platform === "win32" ? "USERPROFILE" : "HOME";
  const hint = `Set ${variable}, or name the file with --file.`;
  throw failure("UnknownInstallLocation", { ...args, reason: `${variable} is not set`, hint });
}

function readCurrent(means: InstallMeans, files: ConfigFiles, file: string): CurrentFile {
  const realFile = files.findRealFile(file);
  return { realFile, text: files.read(realFile), ledger: readLedger(means, files), madeFolders: [] };
}

type Target = Pick<InstallPlan, "file" | "key" | "server" | "scope" | "edit">;

async function finishPlan(
  means: InstallMeans,
  files: ConfigFiles,
  client: ClientRecord,
  target: Target,
  notes: (decision: EditDecision) => string[],
): Promise<InstallPlan> {
  const { file, key, server, scope, edit } = target;
  const { format } = client;
  const current = readCurrent(means, files, file);
  const decision = decideEdit(client, await loadEditor(format), target, current);
  const diff = decision.changed ? formatDiff(file, current.text, decision.text) : "";
  const { changed } = decision;
  const described = [...decision.notes, ...notes(decision), ...warnOfComments(client, current.text)];
  return { client: client.id, server, file, key, changed, diff, scope, format, edit, notes: described };
}

/** As the public `planInstall`, with its means. */
export async function planInstallWith(
  means: InstallMeans,
  clientName: string,
  reference: string,
  options: InstallOptions = {},
): Promise<InstallPlan> {
  const client = findClient(clientName);
  const { scope = "user", cwd = process.cwd(), name, env, force = false, url } = options;
  const files = openFiles(means);
  const { server, started } = normalizeServer(reference);
  const project = () => findProject(createNodeDiscoveryPort(), cwd).directory;
  const candidates = findFiles(means, client, options, project);
  const resolved = await means.resolveServer(reference, { cwd });
  const key = chooseKey(client, name, resolved);
  const environment = readEnvironment(env, resolved.envPassthrough);
  if (url !== undefined && (client.shape.address === undefined || !URL.canParse(url))) {
    const reason = URL.canParse(url)
      ? `How ${client.name} is told of an address is not known`
      : `"${url}" is no address`;
    throw failure("InvalidArguments", { reason });
  }
  const launch =
    url !== undefined
      ? { url }
      : createLaunch({
          scope,
          server: started,
          project: resolved.project,
          isHttp: resolved.transport === "http",
          node: means.node,
          script: means.findScript(resolved.project),
        });
  const { entry, leftOut } = shapeEntry(client, key, launch, environment);
  const file = candidates.find((one) => files.exists(one)) ?? candidates[0] ?? "";
  const target: Target = { file, key, server, scope, edit: { action: "install", entry, force } };
  return finishPlan(means, files, client, target, () =>
    describeNextSteps(client, { scope, names: environment.names, leftOut }),
  );
}

/** As the public `planUninstall`, with its means. */
export async function planUninstallWith(
  means: InstallMeans,
  clientName: string,
  reference: string,
  options: InstallOptions = {},
): Promise<InstallPlan> {
  const client = findClient(clientName);
  const { scope = "user", cwd = process.cwd(), name, force = false } = options;
  const files = openFiles(means);
  const { server, name: itemName } = normalizeServer(reference);
  const project = () => findProject(createNodeDiscoveryPort(), cwd).directory;
  const candidates = findFiles(means, client, options, project);
  const editor = await loadEditor(client.format);
  const present = candidates.filter((file) => files.exists(file));
  const places = present.flatMap((file) =>
    findKeysOf(client, editor, { file, server }, readCurrent(means, files, file)).map((key) => ({
      file,
      key,
    })),
  );
  const named = name === undefined ? places : places.filter(({ key }) => key === name);
  const [place, second] = named;
  if (place !== undefined && second !== undefined) {
    const names = named.map(({ key }) => JSON.stringify(key)).join(", ");
    const reason = `${client.name} has several entries that start ${server}: ${names}`;
    throw failure("InvalidArguments", { reason, hint: "Say which with --name." });
  }
  const file = place?.file ?? present[0] ?? candidates[0] ?? "";
  const key = place?.key ?? name ?? itemName;
  const target: Target = { file, key, server, scope, edit: { action: "uninstall", force } };
  return finishPlan(means, files, client, target, ({ changed }) => {
    const isShared = scope === "project" && /(?:^|[\\/])\.mcp\.json$/.test(file);
    return changed && isShared ? ["Other clients read .mcp.json too: it is gone for them as well."] : [];
  });
}

/** How often a change is begun anew after its lock was taken away. */
const maximumAttempts = 5;

/** As the public `applyPlan`, with its means. */
export async function applyPlanWith(means: InstallMeans, plan: InstallPlan): Promise<InstallResult> {
  const client = findClient(plan.client);
  const editor = await loadEditor(plan.format);
  for (let attempt = 1; ; attempt++) {
    const result = await tryToApply(means, plan, (current) =>
      decideEdit(client, editor, plan, current),
    );
    if (result !== undefined) return result;
    if (attempt === maximumAttempts) {
      const reason = "other programs keep taking its lock";
      throw failure("ClientConfigUnwritable", { file: plan.file, reason }, { file: plan.file });
    }
  }
}

function describeResult(
  { client, server, file, key }: InstallPlan,
  changed: boolean,
  backup: string | null,
  diff: string,
): InstallResult {
  return { client, server, file, key, changed, backup, diff };
}

async function tryToApply(
  means: InstallMeans,
  plan: InstallPlan,
  decide: (current: CurrentFile) => EditDecision,
): Promise<InstallResult | undefined> {
  const files = openFiles(means);
  const ledgerFile = ledgerPath(means);
  const realFile = files.findRealFile(plan.file);
  const isInstall = plan.edit.action === "install";
  if (!isInstall && !files.exists(realFile)) {
    // Nothing is there to be changed; making a folder for a lock would change something.
    const decision = decide(readCurrent(means, files, plan.file));
    return describeResult(plan, decision.changed, null, "");
  }
  const madeFolders = files.makeFolders(realFile, plan.scope === "user" ? 0o700 : 0o777);
  files.makeFolders(ledgerFile, 0o700);
  let written = false;
  try {
    const lock = await files.lock(realFile);
    try {
      const ledgerLock = await files.lock(ledgerFile);
      try {
        const current = { ...readCurrent(means, files, plan.file), madeFolders };
        const decision = decide(current);
        const saveLedger = () =>
          files.replace(ledgerFile, formatLedger(decision.ledger), { lock: ledgerLock, newMode: 0o600 });
        if (!decision.changed) {
          if (decision.ledger !== current.ledger) saveLedger();
          return describeResult(plan, false, null, "");
        }
        const backup = current.text === undefined ? null : files.backUp(realFile);
        // What is needed to undo an edit is known before the edit, and forgotten after it is undone.
        if (isInstall && !saveLedger()) return undefined;
        if (decision.text === undefined) {
          if (!lock.isHeld()) return undefined;
          files.remove(realFile);
        } else {
          const newMode = plan.scope === "user" ? 0o600 : 0o644;
          if (!files.replace(realFile, decision.text, { lock, newMode })) return undefined;
        }
        written = true;
        if (!isInstall) saveLedger();
        const diff = formatDiff(plan.file, current.text, decision.text);
        if (decision.text === undefined) {
          // The lock lies in one of the folders that go.
          lock.release();
          files.removeFolders(ledgerFileOf(current.ledger, realFile)?.folders ?? []);
        }
        return describeResult(plan, true, backup, diff);
      } finally {
        ledgerLock.release();
      }
    } finally {
      lock.release();
    }
  } finally {
    if (!written) files.removeFolders(madeFolders);
  }
}

/** A client as `clients --json` shows it. */
export interface ListedClient {
  id: string;
  name: string;
  aliases: string[];
  format: ConfigFormatName;
  /** Absolute; `null` where the client has none here, or nobody knows where. */
  userFile: string | null;
  /** Absolute, for the project of the folder; `null` where the client reads none. */
  projectFile: string | null;
  /** Whether something of the client was found. */
  present: boolean;
}

/** As the public `listClients`, with its means. */
export function listClientsWith(
  means: InstallMeans,
  { cwd = process.cwd() }: { cwd?: string } = {},
): ListedClient[] {
  const files = openFiles(means);
  const { surroundings } = means;
  let project = resolve(cwd);
  try {
    project = findProject(createNodeDiscoveryPort(), cwd).directory;
  } catch {
    // Without a project, its files would lie in the folder itself.
  }
  const pick = (paths: readonly string[]) => paths.find((path) => files.exists(path)) ?? paths[0] ?? null;
  return clients.map((client) => ({
    id: client.id,
    name: client.name,
    aliases: [...client.aliases],
    format: client.format,
    userFile: pick(findCandidates(client, "user", surroundings, "")),
    projectFile: pick(findCandidates(client, "project", surroundings, project)),
    present: findSigns(client, surroundings).some((sign) => files.exists(sign)),
  }));
}
