// How a session follows its project: what it watches, and what it compares, so that an installation under way and changed programs
// are noticed.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { basename, dirname, join, resolve } from "node:path";
import type { FoundPacks } from "../discovery/find-packs.ts";
import { declaredFolders, locate } from "../discovery/package-folders.ts";
import { ancestorsOf, findProject } from "../discovery/project.ts";
import { lockfileNames } from "../discovery/project-manager.ts";
import { findWorkspace } from "../discovery/workspace.ts";
import { configFiles } from "../files/discovery-port.ts";
import { maximumModuleBytes } from "../files/inspection-port.ts";
import { inspectionPort as port } from "../files/node-inspection-port.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import { createProblem, type Problem, TrailblazeError } from "../problems/index.ts";
import { EntryWatcher, type WatchedEntries } from "../processes/folder-watcher.ts";
import type { ProgramPlan } from "../runtime/server-launches.ts";
import { clock } from "../runtime/time-limit.ts";
import { findNeededFiles, findResourceFiles } from "../validate/needed-files.ts";
import type { ProjectReading } from "./read-project.ts";
import type { SessionFrame } from "./session-frame.ts";

/** Milliseconds without a change before changes count. */
const quietMs = 500;

/**
 * Notes the changes of a project. Once the returned function is called, applies them, one after the other, when no further change
 * has come for a while. `apply` takes the project as it is then. It stops early when `superseded` aborts, and rejects if the project
 * cannot be used.
 */
export async function watchProject(
  frame: SessionFrame,
  apply: (superseded: AbortSignal) => Promise<void>,
): Promise<() => Promise<void>> {
  const { cwd, options, resources, states } = frame;
  let entries: WatchedEntries = new Map();
  let cancelQuiet = () => {};
  /** Aborts when the project has changed since it was applied last, or the session ends. */
  let changed = new AbortController();
  /** That the lock is missing. */
  let missing: Problem | undefined;
  const watcher = new EntryWatcher(() => {
    cancelQuiet();
    if (!resources.closing.aborted) cancelQuiet = clock.after(quietMs, () => changed.abort());
  });
  resources.add(async () => {
    watcher.close();
    cancelQuiet();
    changed.abort();
  });
  /** Watches what there is now. */
  const watch = async () => {
    const packs = (states.current?.parts.reading.found.packs ?? []).filter(({ pack }) => !pack.shadowed);
    const locations = packs.map(({ pack }) => pack.location);
    // While the project cannot be read, the same is watched as before.
    entries = await findWatchedEntries(cwd, options.config, locations).catch(() => entries);
    const reason = watcher.watch(entries);
    if (reason !== undefined)
      frame.reportOnce(createProblem("ChangeNotApplied", { reason }), "ChangeNotApplied");
  };
  const follow = async () => {
    for (;;) {
      if (!changed.signal.aborted) await once(changed.signal, "abort");
      if (resources.closing.aborted) return;
      changed = new AbortController();
      const { signal } = changed;
      // Before the project is read, so that later changes in new folders are noticed.
      await watch();
      // The session keeps its tools until the project can be used again.
      const error: unknown = await apply(signal).then(watch, (reason: unknown) => reason);
      if (missing === undefined && error instanceof TrailblazeError && error.code === "LockMissing") {
        missing = error.problem;
        frame.report(missing);
      } else if (missing !== undefined && error === undefined) {
        frame.withdraw(missing);
        missing = undefined;
      }
    }
  };
  await watch();
  return async () => {
    await watch();
    void follow();
  };
}

/** What package managers and users write next to a package.json. */
const projectFiles = ["package.json", ...lockfileNames, "node_modules", ...configFiles, "trailblaze.lock"];

/** The few entries whose changes may change a session, also of folders to come. `packages`: theirs. Throws if there is no project. */
async function findWatchedEntries(
  cwd: string,
  configOption: unknown,
  packages: readonly string[],
): Promise<WatchedEntries> {
  const files = new Set(packages.map((location) => join(location, "package.json")));
  /** Of which any entry counts. */
  const folders = new Set<string>();
  if (typeof configOption === "string") files.add(resolve(cwd, configOption));

  const project = findProject(port, cwd);
  const workspace = await findWorkspace(port, project);
  const { root, members } = workspace;
  for (const folder of [project.directory, root, ...members])
    for (const name of projectFiles) files.add(join(folder, name));
  const names = declaredFolders(port, workspace).flatMap(({ name }) => name ?? []);
  const scopes = names.flatMap((name) => /^@[^/]+/.exec(name) ?? []);
  for (const folder of ancestorsOf(project.directory)) {
    if (folder.startsWith(root)) files.add(join(folder, "trailblaze.lock"));
    const nodeModules = join(folder, "node_modules");
    // With what package managers write last.
    for (const scope of ["", ...scopes]) folders.add(join(nodeModules, scope));
    for (const name of names) {
      const manifest = join(nodeModules, name, "package.json");
      if (!port.exists(manifest)) files.add(manifest);
    }
  }
  const all = new Set([...folders, ...Array.from(files, (file) => dirname(file))]);
  const isWatched = (path: string) => files.has(path) || folders.has(dirname(path));
  return new Map(Array.from(all, (folder) => [folder, (name) => isWatched(join(folder, name))]));
}

/**
 * Throws if the project must not be used as it is, because it is in the middle of an installation: of the project, its packs and the
 * packages of its servers, a package.json cannot be read any more, or a package is missing that is still declared. Others may be
 * missing for good, such as the development dependencies that `npm prune --omit=dev` removes.
 */
export function refuseIncompleteProject(found: FoundPacks, before: ProjectReading): void {
  const { packs, broken } = before.found;
  const plans = before.parts.flatMap((part) => ("plan" in part && !part.plan.fault ? part.plan : []));
  // Others, such as those of a workspace, need not be where they are declared.
  const declared = packs.flatMap(({ pack }) => (pack.origin === "direct" ? pack.name : []));
  const used = new Set([...declared, ...plans.map(({ entry }) => entry.package)]);
  const needed = declaredFolders(port, found.workspace).filter(({ name }) => name && used.has(name));
  const places = [...needed.map((folder) => locate(port, folder)), ...packs.map(({ pack }) => pack.location)];
  const isUnusable = (location: string | undefined) =>
    location === undefined || (found.broken.has(location) && !broken.has(location));
  if ([found.project, ...places].some(isUnusable))
    throw new Error("The project cannot be used while it is being changed.");
}

/** A hash of files in a folder, relative to it; a missing file counts as empty. */
function hashFiles(folder: string, files: readonly string[], version: unknown): string {
  const hash = createHash("sha256").update(JSON.stringify([folder, version]));
  for (const file of files) {
    const read = port.readFile(folder, file, maximumModuleBytes);
    hash.update(JSON.stringify(file)).update(read.state === "read" ? read.bytes : "");
  }
  return hash.digest("hex");
}

/** Of the version and the code of a pack's tools, prompts and resources: an update, or an edit of one of their files, changes it. */
export function hashPackCode({ pack: { location, version }, items }: InspectedPack): string {
  const isRun = ({ shape }: InspectedItem) => shape !== "subprocessServer";
  const needed = [...findNeededFiles(items.filter(isRun)), ...findResourceFiles(items)];
  const files = needed.map(({ file }) => file);
  return hashFiles(location, files, version);
}

/** Of the file that a server runs: an installation may change it without a new version. */
export const hashProgram = ({ version, environment: { toolsetFile } }: ProgramPlan): string =>
  hashFiles(dirname(toolsetFile), [basename(toolsetFile)], version);
