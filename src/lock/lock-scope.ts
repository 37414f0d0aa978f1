import { sep } from "node:path";
import { matchesAny } from "../config/packs-policy.ts";
import type { LockConfig, SessionConfig } from "../config/session-config.ts";
import type { DiscoveredPack } from "../discovery/types.ts";

/** What `lock.unlocked` and `lock.workspace` leave out of the lock. */
export class LockScope {
  readonly #config: LockConfig;
  readonly #folder: string;

  /** @internal `project`: the folder of the lock. */
  constructor({ lock, project }: Pick<SessionConfig, "lock" | "project">) {
    this.#config = lock;
    this.#folder = project;
  }

  /** Qualified names, labels, and `LABEL/NAME`. */
  isUnlocked(...names: string[]): boolean {
    return matchesAny(this.#config.unlocked, names);
  }

  /** Whether a pack is locked. The project's own packs are free only inside the lock's folder. */
  hasPack({ origin, qualifiedName, location }: DiscoveredPack): boolean {
    const isInside = `${location}${sep}`.startsWith(`${this.#folder}${sep}`);
    const isOwn = (origin === "self" || origin === "workspace") && isInside;
    return (!isOwn || this.#config.workspace) && !this.isUnlocked(qualifiedName);
  }

  /** Whether what a server lists by a name is locked. `pack`: the qualified name of the server's pack. */
  hasListed(label: string, name: string, pack: string | undefined): boolean {
    return !this.isUnlocked(`${label}/${name}`, ...(pack === undefined ? [] : [`${pack}/${name}`]));
  }
}
