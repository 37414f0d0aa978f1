import { basename, dirname, join, resolve } from "node:path";
import { declaredFolders } from "../discovery/package-folders.ts";
import { ancestorsOf, findProject } from "../discovery/project.ts";
import { findWorkspace } from "../discovery/workspace.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { createProblem, type Problem, TrailblazeError } from "../problems/index.ts";
import { EntryWatcher, type WatchedEntries } from "../processes/folder-watcher.ts";
import type { SessionFrame } from "./session-frame.ts";

/** Milliseconds without a change before changes count. */
const quietMs = 500;
/** How long a project may be unusable before that is reported. Milliseconds. */
const keptMs = 30_000;

/** Applies changes of a project, one after the other, when no further change has come for a while. */
export class ProjectFollower {
  readonly #frame: SessionFrame;
  /** Applies the project as it is now. Stops early when `superseded` aborts. Rejects if the project cannot be used. */
  readonly #apply: (superseded: AbortSignal) => Promise<void>;
  readonly #watcher = new EntryWatcher(() => this.#note());
  #entries: WatchedEntries = new Map();
  #cancelQuiet = () => {};
  #cancelKept: (() => void) | undefined;
  /** The application in progress. */
  #applying: AbortController | undefined;
  #isDue = false;
  #hasBegun = false;
  #isClosed = false;
  #hasWatchFault = false;
  /** Why the project could last not be used, and the problem if that was reported. */
  #fault: unknown;
  #reported: Problem | undefined;

  constructor(frame: SessionFrame, apply: (superseded: AbortSignal) => Promise<void>) {
    this.#frame = frame;
    this.#apply = apply;
    frame.resources.add(async () => this.#close());
  }

  /** Starts watching. Changes are not applied yet. */
  start(): Promise<void> {
    return this.#watch();
  }

  /** Applies changes from now on, and those since `start`. */
  async begin(): Promise<void> {
    await this.#watch();
    this.#hasBegun = true;
    if (this.#isDue) this.#request();
  }

  #close(): void {
    this.#isClosed = true;
    this.#watcher.close();
    this.#cancelQuiet();
    this.#cancelKept?.();
    this.#applying?.abort();
  }

  async #watch(): Promise<void> {
    const { cwd, options, states } = this.#frame;
    const packs = (states.reading?.found.packs ?? []).filter(({ pack }) => !pack.shadowed);
    const locations = packs.map(({ pack }) => pack.location);
    // While the project cannot be read, the same is watched as before.
    this.#entries = await findWatchedEntries(cwd, options.config, locations).catch(() => this.#entries);
    const fault = this.#watcher.watch(this.#entries);
    if (fault === undefined || this.#hasWatchFault) return;
    this.#hasWatchFault = true;
    this.#frame.report(createProblem("ChangeNotApplied", { cause: "watch", reason: fault }));
  }

  #note(): void {
    if (this.#isClosed) return;
    this.#cancelQuiet();
    this.#cancelQuiet = this.#frame.clock.after(quietMs, () => this.#request());
  }

  #request(): void {
    this.#isDue = true;
    this.#applying?.abort();
    if (this.#hasBegun && this.#applying === undefined) void this.#applyAll();
  }

  async #applyAll(): Promise<void> {
    while (this.#isDue && !this.#isClosed) {
      this.#isDue = false;
      this.#applying = new AbortController();
      const { signal } = this.#applying;
      // Before the project is read, so that later changes in new folders are noticed.
      await this.#watch();
      try {
        await this.#apply(signal);
        this.#cancelKept?.();
        this.#cancelKept = undefined;
        if (this.#reported !== undefined) this.#frame.withdraw(this.#reported);
        this.#reported = undefined;
        await this.#watch();
      } catch (error) {
        if (signal.aborted || this.#isClosed) continue;
        this.#fault = error;
        this.#cancelKept ??= this.#frame.clock.after(keptMs, () => this.#reportFault());
      }
    }
    this.#applying = undefined;
  }

  /** Reports a project that has stayed unusable. */
  #reportFault(): void {
    const error = this.#fault;
    const reason = error instanceof Error ? error.message : String(error);
    const isUnlocked = error instanceof TrailblazeError && error.code === "LockMissing";
    this.#reported = isUnlocked
      ? error.problem
      : createProblem("ChangeNotApplied", { cause: "project", reason });
    this.#frame.report(this.#reported);
  }
}

/** What package managers and users write next to a package.json. */
const projectFiles: ReadonlySet<string> = new Set([
  "package.json",
  "package-lock.json",
  "npm-shrinkwrap.json",
  "pnpm-lock.yaml",
  "pnpm-workspace.yaml",
  "yarn.lock",
  "bun.lock",
  "bun.lockb",
  "deno.lock",
  "node_modules",
  "trailblaze.config.yaml",
  "trailblaze.config.yml",
  "trailblaze.config.json",
  "trailblaze.lock",
]);

/** What npm, pnpm and Yarn write last. */
const lastFiles: ReadonlySet<string> = new Set([
  ".package-lock.json",
  ".modules.yaml",
  ".yarn-state.yml",
  ".yarn-integrity",
]);

/**
 * The few entries whose changes may change a session: of the project and its workspace, the folders of declared
 * dependencies, the package.json of each of `packages` and of dependencies that are being installed, what package managers
 * write last, the config and the lock. Throws if there is no project.
 */
async function findWatchedEntries(
  cwd: string,
  configOption: unknown,
  packages: readonly string[],
): Promise<WatchedEntries> {
  const port = createNodeDiscoveryPort();
  const entries = new Map<string, ((name: string) => boolean)[]>();
  const add = (folder: string, isWatched: (name: string) => boolean) =>
    entries.set(folder, [...(entries.get(folder) ?? []), isWatched]);
  const addFile = (path: string) => add(dirname(path), (name) => name === basename(path));

  const project = findProject(port, cwd);
  const workspace = await findWorkspace(port, project);
  const { root, members } = workspace;
  for (const folder of new Set([project.directory, root, ...members]))
    add(folder, (name) => projectFiles.has(name));
  for (const folder of ancestorsOf(project.directory)) {
    if (!folder.startsWith(root)) break;
    addFile(join(folder, "trailblaze.lock"));
  }
  const declared = declaredFolders(port, workspace);
  const names = new Set(declared.flatMap(({ name }) => name ?? []));
  const tops = new Set([...names].map((name) => name.replace(/\/.*/, "")));
  for (const folder of ancestorsOf(project.directory)) {
    const nodeModules = join(folder, "node_modules");
    if (!port.exists(nodeModules)) continue;
    add(nodeModules, (name) => lastFiles.has(name) || tops.has(name));
    for (const scope of tops) {
      const path = join(nodeModules, scope);
      if (scope.startsWith("@") && port.exists(path)) add(path, (name) => names.has(`${scope}/${name}`));
    }
    for (const name of names) {
      const manifest = join(nodeModules, name, "package.json");
      if (port.exists(dirname(manifest)) && !port.exists(manifest)) addFile(manifest);
    }
  }
  for (const location of packages) addFile(join(location, "package.json"));
  if (typeof configOption === "string") addFile(resolve(cwd, configOption));
  return new Map(
    [...entries].map(([folder, conditions]) => [folder, (name) => conditions.some((fits) => fits(name))]),
  );
}
