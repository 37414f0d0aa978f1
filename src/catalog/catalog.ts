import { basename, sep } from "node:path";
import { readConfig } from "../config/read-config.ts";
import type { UserServer } from "../config/session-config.ts";
import { findPacks } from "../discovery/find-packs.ts";
import { lookUpReferences } from "../discovery/look-up-pack.ts";
import { findProject } from "../discovery/project.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import { pathIn } from "../files/inspection-port.ts";
import { inspectionPort as port } from "../files/node-inspection-port.ts";
import type { InspectionOptions } from "../inspection/inspect.ts";
import { byKind } from "../kinds.ts";
import { findLock } from "../lock/lock-file.ts";
import { LockGate } from "../lock/lock-gate.ts";
import { entryPlace, keyOf } from "../lock/parts.ts";
import { type DescribedPack, describePacks, readHttps, readRepository } from "../pages/describe-packs.ts";
import { escapeJson } from "../problems/hidden-characters.ts";
import type { Problem } from "../problems/index.ts";
import { referencesOf } from "../session/select-packs.ts";
import { checkPack, readerChecks } from "../validate/check-packs.ts";
import { hostVersion } from "../version.ts";
import { formatCatalog } from "./page.ts";

export type LockState = "approved" | "changed" | "notApproved" | "notLocked";

/** A problem as data: without arguments, which may have absolute paths. */
export type CatalogProblem = Omit<Problem, "args">;

/** `id`: of its section on the page; unique there, as are those of packs. */
export type CatalogItem = DescribedPack["items"][number] & { id: string };

/** An installed pack in the catalog. Its strings are not trusted. */
export interface CatalogPack {
  id: string;
  items: readonly CatalogItem[];
  /** As `list --json` has it, with what the catalog adds. */
  data: Omit<DiscoveredPack, "problems"> &
    Record<"repository" | "homepage", string | null> & {
      lock: LockState | null;
      problems: CatalogProblem[];
    };
}

/** What a catalog shows. It has no absolute paths and no values of environment variables. */
export interface Catalog {
  title: string;
  packs: readonly CatalogPack[];
  servers: readonly Record<"name" | "runs", string>[];
  /** Those of the project. */
  problems: readonly CatalogProblem[];
}

/** The folders of an absolute path, which only this machine has. */
const elsewhere = /(?<=^|[\s"'(=])(?:file:\/\/)?(?:[A-Za-z]:[\\/]|\/)(?:[^\s"'():/\\]+[\\/])+/g;

/** Describes problems without the folders of this machine: paths are relative to `root`. */
const createDescriber = (root: string) => {
  const shorten = (text: string) => text.replaceAll(`${root}${sep}`, "").replace(elsewhere, "…/");
  return ({ args: _, ...problem }: Problem): CatalogProblem => ({
    ...problem,
    message: shorten(problem.message),
    hint: problem.hint && shorten(problem.hint),
    file: problem.file && shorten(problem.file),
  });
};

/** Gives out the IDs of elements, each once. The colon keeps them apart from the page's own. */
function createIds(): (kind: string, name: string) => string {
  const used = new Map<string, number>();
  return (kind, name) => {
    const id = `${kind}:${name.replace(/[^\w./-]+/g, "_")}`;
    const count = (used.get(id) ?? 0) + 1;
    used.set(id, count);
    return count === 1 ? id : `${id}~${count}`;
  };
}

/** What a lock says of a pack. No server starts: their lists are not compared. */
function judgePack(gate: LockGate, inspected: DescribedPack): LockState {
  const { pack } = inspected;
  if (!gate.hasPack(pack)) return "notLocked";
  if (!gate.locked.has(keyOf(entryPlace({ owner: "pack", entry: pack.name })))) return "notApproved";
  const { problems } = gate.checkPack({ inspected, problems: [], unusable: new Map() });
  return problems.some(({ code }) => code === "NotApproved") ? "changed" : "approved";
}

/** What a server runs; of an address, the origin, unless a variable stands in its place. */
function describeRun({ url, command = "", package: name }: UserServer): string {
  if (url === undefined) return name ?? (command.split(/[\\/]/).at(-1) || command);
  const origin = URL.canParse(url) ? new URL(url).origin : "null";
  return origin === "null" ? "" : origin;
}

const textOf = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);

const describeItem = ({ declaration, qualifiedName, definition, page, id }: CatalogItem) => ({
  name: declaration.name,
  qualifiedName,
  advertisedName: textOf(definition?.name),
  title: page.title || undefined,
  description: page.description || declaration.description,
  page: `index.html#${id}`,
});

/**
 * Makes the catalog of what is installed in a project, as texts of files. The same installation gives the same bytes. Trust
 * level: inspection; no handler and no server runs. Texts of packs are escaped. Broken packs and items that sessions cannot use are
 * problems. Throws `TrailblazeError`: `ProjectNotFound`, `InvalidConfig`, `LockMalformed`, `ConfinementUnavailable`.
 */
export async function buildCatalog(options: InspectionOptions & { title?: string | undefined }) {
  const found = await findPacks(port, options);
  const { project, workspace } = found;
  const config = await readConfig(port, { directory: project });
  const problems = [...found.problems, ...config.problems];
  const lock = await findLock(project);
  const gate = lock && new LockGate(lock, config, false);
  await lookUpReferences(port, found, referencesOf(config), "user");
  const describeProblem = createDescriber(workspace.root);
  const createId = createIds();
  const ofProject = problems.map(describeProblem);
  const packs: CatalogPack[] = [];
  for (const described of await describePacks(found, lock?.parts, options)) {
    const { pack, manifest } = described;
    const lockState = gate ? judgePack(gate, described) : null;
    // Of validation what sessions check and what definitions alone show: no module runs, and publishing does not matter.
    const checked = pack.shadowed ? described : await checkPack(described, found, readerChecks);
    const ofPack = [...pack.problems, ...checked.problems, ...described.ofReferences];
    problems.push(...ofPack);
    const id = createId("pack", pack.qualifiedName);
    const items = described.items.map((item) => {
      return { ...item, id: createId(item.declaration.kind, item.qualifiedName) };
    });
    const data = {
      ...pack,
      // Of a folder elsewhere on this machine, the name.
      location: (pathIn(workspace.root, pack.location) ?? `…/${basename(pack.location)}`) || ".",
      repository: readRepository(manifest.value.repository) ?? null,
      homepage: readHttps(manifest.value.homepage) ?? null,
      lock: lockState,
      problems: ofPack.map(describeProblem),
      page: `index.html#${id}`,
      ...byKind((_, kind) => items.filter((one) => one.declaration.kind === kind).map(describeItem)),
    };
    packs.push({ id, items, data });
  }
  const name = textOf(findProject(port, project).manifest?.value.name);
  const title = options.title ?? (name ? `Packs of ${name.slice(0, 214)}` : "Installed packs");
  const servers = config.subprocessServers.map((one) => ({ name: one.name, runs: describeRun(one) }));
  const catalog = {
    catalogVersion: 1,
    title,
    generator: `trailblaze ${hostVersion}`,
    packs: packs.map(({ data }) => data),
    problems: ofProject,
  };
  return {
    files: {
      "catalog.json": `${escapeJson(JSON.stringify(catalog, null, 1))}\n`,
      "index.html": formatCatalog({ title, packs, servers, problems: ofProject }),
    },
    packs: packs.length,
    problems,
  };
}
