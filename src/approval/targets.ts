import { keyOfKind, kinds } from "../kinds.ts";
import { ownEntry } from "../lock/compare.ts";
import type { ServerPlace } from "../lock/recording-gate.ts";
import { listedBy } from "../lock/server-entries.ts";
import type { EntryChange, ItemChange, LockedPack, LockedServer, LockFile } from "../lock/types.ts";
import { failure, type TrailblazeError } from "../problems/index.ts";
import { findNearestNames, qualifyPackageName } from "../qualified-names/index.ts";
import type { Installation } from "./read-installation.ts";

/** How a pack or a server of the config is written on the command line. */
export const ownerOf = (name: string, isPack: boolean) => (isPack ? qualifyPackageName(name) : name);

/** The name of a server that `LABEL/TOOL` begins with. */
export const labelOf = ({ pack, server }: ServerPlace) =>
  pack === undefined ? server : `${qualifyPackageName(pack)}/${server}`;

/** The name of a change on the command line. */
export function nameOf(
  { name }: Pick<EntryChange, "name">,
  item: Pick<ItemChange, "kind" | "name" | "server">,
  isPack: boolean,
): string {
  const owner = ownerOf(name, isPack);
  if (item.kind === "needs" || (!isPack && item.kind === "server")) return owner;
  if (item.server === undefined || !isPack) return `${owner}/${item.name}`;
  return `${owner}/${item.server}/${item.name}`;
}

/** What a command is about: everything, or packs, servers and items by name. */
export class Targets {
  readonly #names: ReadonlySet<string>;
  readonly #written: readonly string[];
  readonly isEverything: boolean;

  constructor(written: readonly string[], isEverything: boolean) {
    this.#written = written;
    this.#names = new Set(written.map((name) => name.replace(/^@/, "")));
    this.isEverything = isEverything;
  }

  /** Whether the entry itself is meant. */
  hasEntry(name: string, isPack: boolean): boolean {
    return this.isEverything || this.#names.has(ownerOf(name, isPack));
  }

  /** Whether the item is meant by its own name. */
  isNamed(
    entry: Pick<EntryChange, "name">,
    item: Pick<ItemChange, "kind" | "name" | "server">,
    isPack: boolean,
  ) {
    return this.#names.has(nameOf(entry, item, isPack));
  }

  hasItem(entry: EntryChange, item: ItemChange, isPack: boolean): boolean {
    if (this.hasEntry(entry.name, isPack) || this.isNamed(entry, item, isPack)) return true;
    const { server } = item;
    return isPack && server !== undefined && this.#names.has(`${ownerOf(entry.name, true)}/${server}`);
  }

  /** Whether the server, or a tool that it may list, is meant. */
  hasServer(place: ServerPlace): boolean {
    const label = labelOf(place);
    if (this.hasEntry(place.pack ?? label, place.pack !== undefined) || this.#names.has(label)) return true;
    return [...this.#names].some((name) => name.startsWith(`${label}/`));
  }

  /** Whether anything of an entry is meant. */
  touches(name: string, isPack: boolean): boolean {
    if (this.hasEntry(name, isPack)) return true;
    const prefix = `${ownerOf(name, isPack)}/`;
    return [...this.#names].some((one) => one.startsWith(prefix));
  }

  /**
   * Throws `TrailblazeError` for a name that neither the lock nor the installation has: `PackNotInstalled`,
   * `ServerNotFound`, `ToolNotFound` and others, with similar names.
   */
  check(lock: LockFile, installation: Installation): void {
    const known = collectNames(lock, installation);
    for (const written of this.#written) {
      if (known.has(written.replace(/^@/, ""))) continue;
      const error = explainUnknown(written, known, lock, installation);
      if (error !== undefined) throw error;
    }
  }
}

function* namesOfServer(label: string, server: LockedServer): Generator<string> {
  yield label;
  for (const [, name] of listedBy(server)) yield `${label}/${name}`;
}

/** The name in a denial, such as `tool:search`. */
const nameOfDenial = (denial: string) => denial.slice(denial.indexOf(":") + 1);

function* namesOfPack(name: string, entry: LockedPack): Generator<string> {
  const owner = ownerOf(name, true);
  yield owner;
  for (const key of kinds.map((kind) => keyOfKind[kind]))
    for (const item of Object.keys(entry[key] ?? {})) yield `${owner}/${item}`;
  for (const [server, value] of Object.entries(entry.servers ?? {})) {
    yield* namesOfServer(`${owner}/${server}`, value);
  }
  for (const denied of entry.denied ?? []) yield `${owner}/${nameOfDenial(denied)}`;
}

/** Every name that the lock or the installation has. */
function collectNames(lock: LockFile, installation: Installation): Set<string> {
  const { packs, servers, installed, unused, registry } = installation;
  const names = new Set([...[...installed].map((name) => ownerOf(name, true)), ...unused]);
  for (const { qualifiedName } of registry.items()) names.add(qualifiedName);
  const entries = [
    ...Object.entries(lock.packs),
    ...[...packs].map(([name, { entry }]) => [name, entry] as const),
  ];
  for (const [name, entry] of entries) for (const one of namesOfPack(name, entry)) names.add(one);
  for (const [label, server] of [...Object.entries(lock.servers), ...servers]) {
    for (const one of namesOfServer(label, server)) names.add(one);
    const { denied } = server;
    for (const one of Array.isArray(denied) ? denied : []) names.add(`${label}/${nameOfDenial(String(one))}`);
  }
  return names;
}

/** The labels of servers whose tools are unknown. */
function findUnlisted(lock: LockFile, { packs, servers }: Installation): string[] {
  const isUnlisted = (now: LockedServer, before: LockedServer | undefined) =>
    now.lists === null && before?.lists == null;
  const own = [...servers]
    .filter(([label, server]) => isUnlisted(server, ownEntry(lock.servers, label)))
    .map(([label]) => label);
  const ofPacks = [...packs].flatMap(([name, { entry }]) =>
    Object.entries(entry.servers ?? {})
      .filter(([server, now]) => isUnlisted(now, ownEntry(ownEntry(lock.packs, name)?.servers, server)))
      .map(([server]) => `${ownerOf(name, true)}/${server}`),
  );
  return [...own, ...ofPacks];
}

function explainUnknown(
  written: string,
  known: ReadonlySet<string>,
  lock: LockFile,
  installation: Installation,
): TrailblazeError | undefined {
  const name = written.replace(/^@/, "");
  // Its tools are known only after it has started.
  if (findUnlisted(lock, installation).some((label) => name.startsWith(`${label}/`))) return undefined;
  const labels = [...new Set([...Object.keys(lock.servers), ...installation.servers.keys()])];
  const packs = [...installation.packs.values()].map(({ pack }) => pack.qualifiedName);
  const owner = [...labels, ...packs].find((one) => name.startsWith(`${one}/`));
  if (owner !== undefined) {
    const inside = [...known].filter((one) => one.startsWith(`${owner}/`));
    const names = inside.map((one) => one.slice(owner.length + 1));
    const nearest = findNearestNames(name.slice(owner.length + 1), names).map((one) => `${owner}/${one}`);
    return failure("ToolNotFound", { name: written, otherKind: undefined, nearest, isAnyKind: true });
  }
  const nearest = findNearestNames(name, labels);
  if (nearest.length > 0 && !name.includes("/"))
    return failure("ServerNotFound", { name, otherKind: undefined, nearest, isLabel: true });
  const similar = findNearestNames(name, packs);
  return failure("PackNotInstalled", { name: written, nearest: similar, isWord: true }, { pack: written });
}
