import { isRecord } from "../data/parse-json.ts";
import type { FoundPacks } from "../discovery/find-packs.ts";
import type { FoundPack } from "../discovery/types.ts";
import { findReferences } from "../extension-schema/references.ts";
import { inspectionPort as port } from "../files/node-inspection-port.ts";
import type { InspectionOptions } from "../inspection/inspect.ts";
import { findPacksFor, requirePack } from "../inspection/inspect.ts";
import { createLibrary, loadDefinitions } from "../inspection/load-definitions.ts";
import { readContents } from "../inspection/server-contents.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import { readLock } from "../lock/lock-file.ts";
import { keyOf, type LockParts, type LockPlace } from "../lock/parts.ts";
import { failure, type Problem } from "../problems/index.ts";
import { createItemPage, type ItemPage } from "./page.ts";

export interface DescribedPack extends InspectedPack {
  items: (InspectedItem & { page: ItemPage })[];
  ofReferences: Problem[];
}

/** The tools of a subprocess server: those that the lock approves, otherwise those that the pack declares; `null` if it says none. */
function listTools({ declaration }: InspectedItem, entry: string, lock: LockParts) {
  const place = { owner: "pack", entry, kind: "server", name: declaration.name } as const;
  if (lock.get(keyOf(place))?.value?.lists) {
    const isListed = ({ owner, kind, server, ...at }: LockPlace) =>
      owner === "pack" && kind === "tool" && at.entry === entry && server === place.name;
    const listed = [...lock.values()].filter(({ place, value }) => value && isListed(place));
    return { toolNames: listed.map(({ place }) => place.name) };
  }
  const { tools } = declaration.extra;
  if (!Array.isArray(tools)) return null;
  const names = tools.map((one) => (isRecord(one) ? one.name : Array.isArray(one) ? one[0] : one));
  return { toolNames: names.filter((name) => typeof name === "string") };
}

const composedShapes: readonly unknown[] = ["composedServer", "serverDocument", "toolsetList"];

/** Describes `only` one pack, or all that were found, with those that references add. Trust level: inspection. */
export async function describePacks(
  found: FoundPacks,
  lock: LockParts = new Map(),
  options: InspectionOptions,
  only?: FoundPack,
): Promise<DescribedPack[]> {
  const { dataOnly, requireConfinement, builtIns = [] } = options;
  const load = { dataOnly, requireConfinement };
  const library = createLibrary(port, found, load);
  const loaded = new Map<FoundPack, InspectedPack>();
  const findNext = () => (only === undefined ? found.packs : [only]).find((pack) => !loaded.has(pack));
  for (let pack = findNext(); pack !== undefined; pack = findNext()) {
    const inspected = await loadDefinitions(port, pack, load);
    loaded.set(pack, inspected);
    await library.lookUp(inspected.items.flatMap(findReferences), pack.pack);
    if (!pack.pack.shadowed) library.add(inspected);
  }

  const described: Omit<DescribedPack, "ofReferences">[] = [];
  for (const inspected of found.packs.flatMap((pack) => loaded.get(pack) ?? [])) {
    const { name, shadowed } = inspected.pack;
    const items: DescribedPack["items"] = [];
    for (const item of inspected.items) {
      const isComposed = !shadowed && composedShapes.includes(item.shape);
      const ofComposed = isComposed ? await readContents({ library, builtIns }, item) : undefined;
      const contents = item.shape === "subprocessServer" ? listTools(item, name, lock) : ofComposed;
      items.push({
        ...item,
        page: createItemPage({ ...item.declaration, ...item.skill, ...item, contents }),
      });
    }
    described.push({ ...inspected, items });
  }
  return described.map(({ pack, ...others }) => {
    const isOwn = (problem: Problem) => !pack.shadowed && problem.pack === pack.name;
    const ofReferences = library.problems.filter((problem) => only !== undefined || isOwn(problem));
    return { pack, ...others, ofReferences };
  });
}

/**
 * Describes an installed pack by its npm name or its qualified form; without a name, the pack of the project. Throws
 * `TrailblazeError`: `NoExtension`, `PackNotInstalled`, `ProjectNotFound`.
 */
export async function describePack(
  name: string | undefined,
  options: InspectionOptions,
): Promise<DescribedPack> {
  const found = await findPacksFor(name ?? "", options);
  const pack =
    name === undefined
      ? found.packs.find((one) => one.pack.origin === "self")
      : await requirePack(found, name);
  if (pack === undefined) throw failure("NoExtension", { name: found.project });
  const lock = await readLock(found.project);
  return (await describePacks(found, lock, options, pack))[0] as DescribedPack;
}

/** The normal form of an https address without credentials; `undefined` for any other value. */
export function readHttps(text: unknown): string | undefined {
  if (typeof text !== "string" || text.length > 2048 || !URL.canParse(text)) return undefined;
  const { protocol, username, password, href } = new URL(text);
  return protocol === "https:" && username === "" && password === "" ? href : undefined;
}

/** The address of a package's repository, also in the forms of npm: `git+https://…`, `github:acme/jira`, `acme/jira`. */
export function readRepository(repository: unknown): string | undefined {
  const text = isRecord(repository) ? repository.url : repository;
  if (typeof text !== "string") return undefined;
  const short = /^(?:github:)?([\w.-]+\/[\w.-]+)$/.exec(text)?.[1];
  return readHttps(short === undefined ? text.replace(/^git\+|\.git$/g, "") : `https://github.com/${short}`);
}
