import { itemName, type LockParts, type LockPlace, nameOf, type Owner, ownerOf } from "../lock/parts.ts";
import type { LockedKind } from "../lock/types.ts";
import { failure, type TrailblazeError } from "../problems/index.ts";
import { findNearestNames, qualifyPackageName } from "../qualified-names/index.ts";
import { type Installation, installedParts } from "./installation.ts";

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
  hasEntry(place: Owner): boolean {
    return this.isEverything || this.#names.has(ownerOf(place));
  }

  /** Whether the part is meant by its own name. */
  isNamed(place: LockPlace): boolean {
    return this.#names.has(nameOf(place));
  }

  /** Whether the part, what lists it, or its entry is meant. */
  hasPart(place: LockPlace): boolean {
    if (this.hasEntry(place) || this.isNamed(place)) return true;
    const { owner, server } = place;
    return owner === "pack" && server !== undefined && this.#names.has(`${ownerOf(place)}/${server}`);
  }

  /** Whether the part or its entry is named, not only meant with everything. */
  readonly isWritten = (place: LockPlace): boolean => this.#names.has(ownerOf(place)) || this.isNamed(place);

  /** The same, or for a server something that it may list. */
  concerns(place: LockPlace): boolean {
    return this.hasPart(place) || (place.kind === "server" && this.namesInside(place));
  }

  /** Whether something that the server may list is meant by its name. */
  namesInside(place: LockPlace): boolean {
    const label = nameOf(place);
    return [...this.#names].some((name) => name.startsWith(`${label}/`));
  }

  /**
   * Throws `TrailblazeError` for a name that neither the lock nor the installation has: `PackNotInstalled`,
   * `ServerNotFound`, `ToolNotFound` and others, with similar names.
   */
  check(lock: LockParts, installation: Installation): void {
    const known = collectNames(lock, installation);
    for (const written of this.#written) {
      if (known.has(written.replace(/^@/, ""))) continue;
      const error = explainUnknown(written, known, lock, installation);
      if (error !== undefined) throw error;
    }
  }
}

/** Every name that the lock or the installation has. */
function collectNames(lock: LockParts, installation: Installation): Set<string> {
  const { installed, unused } = installation;
  const parts = [...lock.values(), ...installedParts(installation).values()];
  const items = [...installed].flatMap(([pack, declared]) => {
    const name = qualifyPackageName(pack);
    const nameOfItem = (item: string) => {
      const [kind = "", key = ""] = item.split(/:(.*)/s);
      return itemName(kind as LockedKind, key);
    };
    return [name, ...[...declared].map((item) => `${name}/${nameOfItem(item)}`)];
  });
  const ofParts = parts.flatMap(({ place }) => [ownerOf(place), nameOf(place)]);
  return new Set([...unused, ...items, ...ofParts]);
}

/** The servers whose tools are unknown. */
const findUnlisted = (lock: LockParts, installation: Installation): string[] =>
  [...installedParts(installation)]
    .filter(([key, { value }]) => value.lists === null && lock.get(key)?.value.lists == null)
    .map(([, { place }]) => nameOf(place));

function explainUnknown(
  written: string,
  known: ReadonlySet<string>,
  lock: LockParts,
  installation: Installation,
): TrailblazeError | undefined {
  const name = written.replace(/^@/, "");
  // Its tools are known only after it has started.
  if (findUnlisted(lock, installation).some((label) => name.startsWith(`${label}/`))) return undefined;
  const locked = [...lock.values()].flatMap(({ place: { owner, entry } }) =>
    owner === "server" ? [entry] : [],
  );
  const labels = [...new Set([...locked, ...installation.servers.keys()])];
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
