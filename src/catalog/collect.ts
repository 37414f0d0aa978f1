import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { basename, isAbsolute, relative, sep } from "node:path";
import { readConfig } from "../config/read-config.ts";
import type { SessionConfig, UserServer } from "../config/session-config.ts";
import { findPacks } from "../discovery/find-packs.ts";
import { lookUpReferences } from "../discovery/look-up-pack.ts";
import { ancestorsOf, findProject } from "../discovery/project.ts";
import { managerIn } from "../discovery/project-manager.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import type { InspectionOptions } from "../inspection/inspect.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { findLock } from "../lock/lock-file.ts";
import { LockScope } from "../lock/lock-scope.ts";
import { type DescribedPack, describePacks } from "../pages/describe-packs.ts";
import { type Problem, TrailblazeError } from "../problems/index.ts";
import { referencesOf } from "../session/select-packs.ts";
import { checkPack, readerChecks } from "../validate/check-packs.ts";
import { comparePack, compareServer, type LockState } from "./lock-states.ts";

/** An item of a pack in the catalog. */
export interface CatalogItem {
  item: InspectedItem;
  /** Of its element on the page; unique there. */
  id: string;
  lock: LockState | undefined;
}

/** An installed pack in the catalog. Its strings are not trusted. */
export interface CatalogPack {
  described: DescribedPack;
  /** Of its section on the page; unique there. */
  id: string;
  /** Relative to the project, with `/`. */
  location: string;
  items: CatalogItem[];
  problems: Problem[];
  /** `undefined` without a lock. */
  lock: LockState | undefined;
}

/** A server of the project's config, without its arguments and values, which may be secret. */
export interface ConfigServer {
  name: string;
  type: "Composed of packs' items" | "Program" | "Remote server" | "Not used by sessions";
  /** The program, the package or the origin of the address. */
  runs: string;
  /** Names of variables and headers. */
  names: string[];
  lock: LockState | undefined;
}

/** Everything that a catalog shows. It has no absolute paths and no values of environment variables. */
export interface Catalog {
  /** For people, from the name of the project. */
  title: string;
  /** In the order of discovery. */
  packs: CatalogPack[];
  servers: ConfigServer[];
  /** Problems that belong to no pack. */
  problems: Problem[];
  hasLock: boolean;
}

/** The folders of an absolute path, which only this machine has. */
const elsewhere = /(?<=^|[\s"'(=])(?:file:\/\/)?(?:[A-Za-z]:[\\/]|\/)(?:[^\s"'():/\\]+[\\/])+/g;

/** Replaces the project's folder and those above it in texts of problems by relative paths. */
function createRelativizer(project: string): (problem: Problem) => Problem {
  const escapePattern = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const folders = [...ancestorsOf(project)].filter((folder) => folder.length > 3);
  const replacements = [
    ...folders.map((folder, depth) => [folder, "../".repeat(depth)] as const),
    [homedir(), "~/"] as const,
  ].map(([folder, by]) => [new RegExp(`${escapePattern(folder)}(?:[/\\\\]|(?![\\w.-]))`, "g"), by] as const);
  const shorten = (text: string) =>
    replacements
      .reduce((shortened, [folder, by]) => shortened.replace(folder, by || "./"), text)
      .replace(elsewhere, "…/");
  return (problem) => ({
    ...problem,
    message: shorten(problem.message),
    hint: problem.hint && shorten(problem.hint),
    file: problem.file && shorten(problem.file).replace(/^\.\//, ""),
  });
}

function relativeLocation(project: string, location: string): string {
  const path = relative(project, location).split(sep).join("/");
  // A linked package somewhere else on this machine.
  const isElsewhere = isAbsolute(path) || path.startsWith("../".repeat(project.split(sep).length - 1));
  return isElsewhere ? `…/${basename(location)}` : path || ".";
}

/** Gives out the IDs of elements, safe in an address and in markup, each once. The colon keeps them apart from the page's own. */
function createIds(): (kind: string, qualifiedName: string) => string {
  const used = new Map<string, number>();
  return (kind, qualifiedName) => {
    const isPlain = /^[\w./-]{1,300}$/.test(qualifiedName);
    const hash = () => createHash("sha256").update(qualifiedName).digest("hex").slice(0, 16);
    const id = `${kind}:${isPlain ? qualifiedName : hash()}`;
    const count = (used.get(id) ?? 0) + 1;
    used.set(id, count);
    return count === 1 ? id : `${id}~${count}`;
  };
}

/** What a server runs: its package or program, without the folder that only this machine has; of an address the origin. */
function describeRun({ url, command = "", package: name }: UserServer): string {
  if (url === undefined) return name ?? (isAbsolute(command) ? basename(command) : command);
  // A variable may stand in the place of the origin.
  const origin = URL.canParse(url) ? new URL(url).origin : "null";
  return origin === "null" ? "" : origin;
}

/** The servers of the config in the order of the file's parts. */
function collectServers(
  { servers, subprocessServers, unusedServers }: SessionConfig,
  stateOf: (server: UserServer) => LockState | undefined,
): ConfigServer[] {
  const plain = { runs: "", names: [], lock: undefined };
  return [
    ...servers.map(({ name }) => ({ ...plain, name, type: "Composed of packs' items" as const })),
    ...subprocessServers.map((server) => ({
      name: server.name,
      type: server.url === undefined ? ("Program" as const) : ("Remote server" as const),
      runs: describeRun(server),
      names: [...Object.keys(server.env), ...Object.keys(server.headers)].sort(),
      lock: stateOf(server),
    })),
    ...unusedServers.map(({ name }) => ({ ...plain, name, type: "Not used by sessions" as const })),
  ];
}

/**
 * Collects what is installed in a project, with definitions, members of servers, and the state of the lock. Reports broken
 * packs, items that sessions cannot use, and a malformed lock, as problems. Trust level: inspection; no handler and no server runs. Throws
 * `TrailblazeError`: `ProjectNotFound`, `InvalidConfig`, `ConfinementUnavailable`.
 */
export async function collectCatalog(options: InspectionOptions): Promise<Catalog> {
  const port = createNodeInspectionPort();
  const found = await findPacks(port, options);
  const { project } = found;
  const manager = managerIn(port, found.workspace);
  const config = await readConfig(port, { directory: project });
  const problems = [...found.problems, ...config.problems];
  // With a malformed lock, nothing counts as approved or as not locked.
  const foundLock = await findLock(project).catch((error: unknown) => {
    if (!(error instanceof TrailblazeError)) throw error;
    problems.unshift(error.problem);
  });
  const lock = foundLock?.lock;
  const scope = new LockScope(config, foundLock?.folder);
  await lookUpReferences(port, found, referencesOf(config), "user");
  const relativize = createRelativizer(project);
  const createId = createIds();
  const packs: CatalogPack[] = [];
  const all = await describePacks(port, found, lock, options);
  // A pack in use comes before its shadowed copies, so that its IDs are plain.
  for (const described of all.toSorted(
    (one, other) => Number(one.pack.shadowed) - Number(other.pack.shadowed),
  )) {
    const { pack, items } = described;
    const compared = lock && comparePack(described, lock, scope);
    // Of validation what sessions check and what definitions alone show: no module runs, and publishing does not matter.
    const checked = pack.shadowed ? described : await checkPack(port, described, manager, readerChecks);
    packs.push({
      described,
      id: createId("pack", pack.qualifiedName),
      location: relativeLocation(project, pack.location),
      items: items.map((item) => ({
        item,
        id: createId(item.declaration.kind, item.qualifiedName),
        lock: compared?.items.get(item),
      })),
      problems: [...pack.problems, ...checked.problems, ...described.ofReferences].map(relativize),
      lock: compared?.state,
    });
  }
  const { name } = findProject(port, project).manifest?.value ?? {};
  return {
    title: typeof name === "string" && name !== "" ? `Packs of ${name.slice(0, 214)}` : "Installed packs",
    packs: packs.toSorted((one, other) => all.indexOf(one.described) - all.indexOf(other.described)),
    servers: collectServers(config, (server) => lock && compareServer(server, lock, scope)),
    problems: problems.map(relativize),
    hasLock: lock !== undefined,
  };
}
