import { type LockParts, type LockPlace, nameOf, ownerOf } from "../lock/parts.ts";
import { failure } from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/index.ts";
import type { Installation } from "./installation.ts";

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

  /** Whether the part is meant by its own name. */
  isNamed(place: LockPlace): boolean {
    return this.#names.has(nameOf(place));
  }

  /** Whether the part, what lists it, or its entry is named, not only meant with everything. */
  readonly isWritten = (place: LockPlace): boolean => {
    const owner = ownerOf(place);
    if (this.isNamed(place) || this.#names.has(owner)) return true;
    // A server of the config that has a tool with its own name is not meant with that tool.
    return (
      place.owner === "pack" && place.server !== undefined && this.#names.has(`${owner}/${place.server}`)
    );
  };

  /** Whether the part is meant. */
  has(place: LockPlace): boolean {
    return this.isEverything || this.isWritten(place);
  }

  /** The same, or for a server something that it may list. */
  concerns(place: LockPlace): boolean {
    return this.has(place) || (place.kind === "server" && this.namesInside(place));
  }

  /** Whether something that the server may list is meant by its name. */
  namesInside(place: LockPlace): boolean {
    return [...this.#names].some((name) => name.startsWith(`${nameOf(place)}/`));
  }

  /**
   * Throws `TrailblazeError` for a name that neither the lock nor the installation has: `PackNotInstalled`, or
   * `ToolNotFound` inside a pack or a server, with similar names.
   */
  check(lock: LockParts, { parts, places }: Installation): void {
    const all = [...[...lock.values(), ...parts.values()].map(({ place }) => place), ...places.values()];
    const names = new Set(all.flatMap((place) => [ownerOf(place), nameOf(place)]));
    // Their tools are known only after they have started.
    const unlisted = [...parts].flatMap(([key, { place, value }]) =>
      value.lists === null && lock.get(key)?.value.lists == null ? [`${nameOf(place)}/`] : [],
    );
    for (const written of this.#written) {
      const name = written.replace(/^@/, "");
      if (names.has(name) || unlisted.some((prefix) => name.startsWith(prefix))) continue;
      const nearest = findNearestNames(name, [...names]);
      if ([...names].some((owner) => name.startsWith(`${owner}/`)))
        throw failure("ToolNotFound", { name: written, otherKind: undefined, nearest, isAnyKind: true });
      throw failure("PackNotInstalled", { name: written, nearest, isWord: true }, { pack: written });
    }
  }
}
