import { isRecord } from "../../data/parse-json.ts";
import type { FoundPack } from "../../discovery/types.ts";
import { createNodeInspectionPort } from "../../files/node-inspection-port.ts";
import { DefinitionLibrary } from "../../inspection/definition-library.ts";
import type { InspectionOptions } from "../../inspection/inspect.ts";
import { findOwner, findPackBySubject, findPacksFor, missingPack } from "../../inspection/inspect.ts";
import { type ServerContents, ServerContentsReader } from "../../inspection/server-contents.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import { keyOfKind, kinds } from "../../kinds.ts";
import { readUsableEntries } from "../../lock/lock-file.ts";
import type { LockedPack } from "../../lock/types.ts";
import { failure, type Problem, quote } from "../../problems/index.ts";

/** What is known of a pack without running it. */
export interface DescribedPack {
  found: FoundPack;
  /** Of every kind, as declared. */
  items: InspectedItem[];
  /** The contents of composed servers, and of toolsets without a bundle, by qualified name. */
  contents: ReadonlyMap<string, ServerContents>;
  /** The names of a subprocess server's tools, by the server's name: approved ones, otherwise declared ones. */
  listed: ReadonlyMap<string, readonly string[]>;
  problems: Problem[];
}

/** Names in a server's declaration, which are plain data. */
function declaredTools({ declaration }: InspectedItem): string[] | undefined {
  const { tools } = declaration.extra;
  if (!Array.isArray(tools)) return undefined;
  const names = tools.map((one) => (isRecord(one) ? one.name : Array.isArray(one) ? one[0] : one));
  return names.filter((name) => typeof name === "string");
}

/** The names of the tools of subprocess servers, by the server's name: approved ones, otherwise declared ones. */
export function findListed(
  items: readonly InspectedItem[],
  locked: LockedPack | undefined,
): ReadonlyMap<string, readonly string[]> {
  const listed = new Map<string, readonly string[]>();
  for (const item of items) {
    const { name } = item.declaration;
    const servers = locked?.servers ?? {};
    const lists = Object.hasOwn(servers, name) ? servers[name]?.lists : undefined;
    const names = isRecord(lists) ? Object.keys(lists) : declaredTools(item);
    if (names !== undefined) listed.set(name, names);
  }
  return listed;
}

/**
 * Describes an installed pack by its npm name or its qualified form; without a name, the pack of the project. Trust level:
 * inspection. Throws `TrailblazeError`: `NoExtension`, `PackNotInstalled`, `ProjectNotFound`.
 */
export async function describePack(
  name: string | undefined,
  options: InspectionOptions,
): Promise<DescribedPack> {
  const port = createNodeInspectionPort();
  const found = await findPacksFor(port, name ?? "", options);
  const pack =
    name === undefined
      ? found.packs.find((one) => one.pack.origin === "self")
      : findPackBySubject(found, name);
  if (pack === undefined) {
    if (name === undefined) throw failure("NoExtension", { name: found.project });
    const owner = findOwner(found, name);
    if (owner === undefined) throw await missingPack(port, found, name);
    const reason = `${quote(name, 400)} is an item, not a pack`;
    throw failure("InvalidArguments", { reason, hint: `Pass its pack, ${owner.pack.name}.` });
  }
  const { dataOnly, requireConfinement } = options;
  const library = new DefinitionLibrary(port, found, { dataOnly, requireConfinement });
  const items: InspectedItem[] = [];
  for (const kind of kinds) {
    const declared = pack.extension[keyOfKind[kind]].map((one) => `${pack.pack.qualifiedName}/${one.name}`);
    items.push(...(await library.load(kind, declared)));
  }
  const reader = new ServerContentsReader(library, options.builtIns ?? []);
  const contents = new Map<string, ServerContents>();
  for (const item of items) {
    const { shape, qualifiedName, declaration } = item;
    const hasMembers = shape === "composedServer" || shape === "serverDocument" || shape === "toolsetList";
    if (hasMembers) contents.set(`${declaration.kind} ${qualifiedName}`, await reader.read(item));
  }
  const lock = await readUsableEntries(found.project);
  const locked = Object.hasOwn(lock.packs, pack.pack.name) ? lock.packs[pack.pack.name] : undefined;
  const servers = items.filter((item) => item.shape === "subprocessServer");
  const problems = [...pack.pack.problems, ...library.problems];
  return { found: pack, items, contents, listed: findListed(servers, locked), problems };
}
