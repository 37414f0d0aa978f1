import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { basename, isAbsolute, relative, sep } from "node:path";
import { findListed } from "../author/docs/describe-pack.ts";
import { readConfig } from "../config/read-config.ts";
import { type FoundPacks, findPacks } from "../discovery/find-packs.ts";
import { ancestorsOf, findProject } from "../discovery/project.ts";
import { managerIn } from "../discovery/project-manager.ts";
import type { FoundPack } from "../discovery/types.ts";
import { findReferences } from "../extension-schema/references.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { DefinitionLibrary } from "../inspection/definition-library.ts";
import type { InspectionOptions } from "../inspection/inspect.ts";
import { loadDefinitions } from "../inspection/load-definitions.ts";
import { ServerContentsReader, type ServerMembers } from "../inspection/server-contents.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { ownEntry } from "../lock/compare.ts";
import { type FoundLock, findLock } from "../lock/find-lock.ts";
import { type Problem, TrailblazeError } from "../problems/index.ts";
import { referencesOf } from "../session/select-packs.ts";
import { checkPack, readerChecks } from "../validate/check-packs.ts";
import { type ConfigServer, collectConfigServers } from "./config-servers.ts";
import { readHttps, readRepository } from "./html.ts";
import { type ItemLock, LockStates, type PackLock } from "./lock-states.ts";

/** An item of a pack in the catalog. */
export interface CatalogItem {
  item: InspectedItem;
  /** Of its element on the page; unique there. */
  id: string;
  /** `undefined` without a lock. */
  lock: ItemLock | undefined;
  /** The members of a composed server or of a toolset that lists them. */
  members: ServerMembers | undefined;
  /** The tools of a subprocess server, as approved or declared; `undefined` if they are unknown. */
  listed: readonly string[] | undefined;
}

/** An installed pack in the catalog. Its strings are not trusted. */
export interface CatalogPack {
  found: FoundPack;
  /** Of its section on the page; unique there. */
  id: string;
  /** Relative to the project, with `/`. */
  location: string;
  /** Whether a session uses the pack. */
  enabled: boolean;
  /** https addresses. */
  repository: string | undefined;
  homepage: string | undefined;
  items: CatalogItem[];
  problems: Problem[];
  /** `undefined` without a lock. */
  lock: PackLock | undefined;
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

/** Reads the lock. A malformed one is a problem, so that nothing counts as approved or as not locked. */
async function readLockOf(project: string): Promise<{ found: FoundLock | undefined; problems: Problem[] }> {
  try {
    return { found: await findLock(project), problems: [] };
  } catch (error) {
    if (!(error instanceof TrailblazeError)) throw error;
    return { found: undefined, problems: [error.problem] };
  }
}

const hasMembers = ({ shape }: InspectedItem) =>
  shape === "composedServer" || shape === "serverDocument" || shape === "toolsetList";

/** Reads what the servers and toolsets of a pack contain. */
async function fillMembers(reader: ServerContentsReader, { found, items }: CatalogPack): Promise<void> {
  for (const one of items) {
    if (!hasMembers(one.item)) continue;
    const { item } = one;
    const references = findReferences(item);
    one.members = await reader.readMembers({ from: found.pack, references, item });
  }
}

/** The ID of an element, safe in an address and in markup. The colon keeps it apart from the page's own. */
const elementId = (kind: string, qualifiedName: string): string =>
  `${kind}:${/^[\w./-]{1,300}$/.test(qualifiedName) ? qualifiedName : createHash("sha256").update(qualifiedName).digest("hex").slice(0, 16)}`;

/** Gives the elements of the page unique IDs. A pack in use comes before its shadowed copies, so that its IDs are plain. */
function assignIds(packs: readonly CatalogPack[]): void {
  const used = new Map<string, number>();
  const assign = (kind: string, qualifiedName: string) => {
    const id = elementId(kind, qualifiedName);
    const count = (used.get(id) ?? 0) + 1;
    used.set(id, count);
    return count === 1 ? id : `${id}~${count}`;
  };
  const isShadowed = ({ found }: CatalogPack) => Number(found.pack.shadowed);
  for (const pack of packs.toSorted((one, other) => isShadowed(one) - isShadowed(other))) {
    pack.id = assign("pack", pack.found.pack.qualifiedName);
    for (const one of pack.items) one.id = assign(one.item.declaration.kind, one.item.qualifiedName);
  }
}

/**
 * Collects what is installed in a project, with definitions, members of servers, and the state of the lock. Reports broken
 * packs, items that sessions cannot use, and a malformed lock, as problems. Trust level: inspection; no handler and no server runs. Throws
 * `TrailblazeError`: `ProjectNotFound`, `InvalidConfig`, `ConfinementUnavailable`.
 */
export async function collectCatalog(options: InspectionOptions): Promise<Catalog> {
  const port = createNodeInspectionPort();
  const found: FoundPacks = await findPacks(port, options);
  const { project } = found;
  const manager = managerIn(port, found);
  const config = await readConfig(port, { directory: project });
  const { found: foundLock, problems: lockProblems } = await readLockOf(project);
  const lock = foundLock?.lock;
  const states = new LockStates(lock, config, foundLock?.folder);
  const relativize = createRelativizer(project);

  const { dataOnly, requireConfinement } = options;
  const load = { dataOnly, requireConfinement };
  const library = new DefinitionLibrary(port, found, load);
  const packs: CatalogPack[] = [];
  const checked = new Map<FoundPack, readonly Problem[]>();
  await library.lookUp(referencesOf(config), "user");
  const collected = new Set<FoundPack>();
  for (;;) {
    // References may add packs.
    const one = found.packs.find((pack) => !collected.has(pack));
    if (one === undefined) break;
    collected.add(one);
    const inspected = await loadDefinitions(port, one, load);
    const references = inspected.items.flatMap((item) =>
      findReferences(item).map((written) => written.reference),
    );
    await library.lookUp(references, one.pack);
    if (!one.pack.shadowed) library.add(inspected);
    const { value } = one.manifest;
    const packLock = states.describe(inspected);
    const locked = ownEntry(lock?.packs, one.pack.name);
    const listed = findListed(
      inspected.items.filter(({ shape }) => shape === "subprocessServer"),
      locked,
    );
    // Of validation what sessions check and what definitions alone show: no module runs, and publishing does not matter.
    checked.set(
      one,
      one.pack.shadowed
        ? inspected.problems
        : (await checkPack(port, inspected, manager, readerChecks)).problems,
    );
    packs.push({
      found: one,
      id: "",
      location: relativeLocation(project, one.pack.location),
      enabled: one.pack.enabled !== false,
      repository: readRepository(value.repository),
      homepage: readHttps(value.homepage),
      items: inspected.items.map((item) => ({
        item,
        id: "",
        lock: packLock?.items.get(item),
        members: undefined,
        listed: listed.get(item.declaration.name),
      })),
      problems: [],
      lock: packLock,
    });
  }

  packs.sort((one, other) => found.packs.indexOf(one.found) - found.packs.indexOf(other.found));
  assignIds(packs);
  const reader = new ServerContentsReader(library, options.builtIns ?? []);
  for (const pack of packs) if (!pack.found.pack.shadowed) await fillMembers(reader, pack);
  const ofMembers = [...library.problems];
  for (const pack of packs) {
    const { name, shadowed, problems } = pack.found.pack;
    const own = shadowed ? [] : ofMembers.filter((problem) => problem.pack === name);
    pack.problems = [...problems, ...(checked.get(pack.found) ?? []), ...own].map(relativize);
  }
  const { name } = findProject(port, project).manifest?.value ?? {};
  return {
    title: typeof name === "string" && name !== "" ? `Packs of ${name.slice(0, 214)}` : "Installed packs",
    packs,
    servers: collectConfigServers(config, states),
    problems: [...lockProblems, ...found.problems, ...config.problems].map(relativize),
    hasLock: lock !== undefined,
  };
}
