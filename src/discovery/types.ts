import type { Extension, Needs } from "../extension-schema/parse-extension.ts";
import type { KindKey } from "../kinds.ts";
import type { Problem } from "../problems/index.ts";

export type { Needs };

/** Why a pack is installed. */
export type Origin =
  /** The project itself. */
  | "self"
  /** Another package of the project's workspace. */
  | "workspace"
  /** A dependency that the project declares, of any kind. */
  | "direct"
  /** Declared only by other packages, referred to by a definition, or named in the config's `packs.transitive`. */
  | "transitive"
  /** Installed, but declared by no package, or asked for by name without being declared. */
  | "undeclared"
  /** In npm's folder of globally installed packages. */
  | "global";

/** Whether a pack belongs to a project by its package.json and its workspace's. */
export const isDeclaredOrigin = (origin: Origin): boolean =>
  origin === "self" || origin === "workspace" || origin === "direct";

/** Whether a described package is a pack: it has the field, or skills. */
export const isPack = ({ hasField, extension }: FoundPack): boolean =>
  hasField || extension.skills.length > 0;

/** A pack without the field: a dependency that has skills, and does not mention Trailblaze. They need an approval, lock or no lock. */
export const isUnasked = ({ hasField, pack }: FoundPack): boolean => !hasField && pack.origin === "direct";

/** An item as its pack's package.json declares it. */
export interface DiscoveredItem {
  name: string;
  qualifiedName: string;
  description: string | null;
  /** Of a skill: below the pack's folder of skills, with `/`. */
  path?: string;
}

/** A pack as its package.json describes it. Its strings are untrusted. */
export type DiscoveredPack = {
  /** The name it is installed under; for packages of the project and its workspace, the name in package.json. */
  name: string;
  /** `publisher/pack`, or `pack` if the name has no scope. */
  qualifiedName: string;
  /** The name in its package.json, if that differs. */
  packageName?: string;
  version: string | null;
  description: string | null;
  /** Absolute path of the package's folder, symbolic links followed. */
  location: string;
  origin: Origin;
  /** Another copy of the pack takes precedence. */
  shadowed: boolean;
  /**
   * Whether a session uses the pack, according to package.json files and the config's `packs`; `"onDemand"` if it does
   * once a definition or the config refers to the pack; `"approval"` for a dependency without the field, until a skill of it
   * is approved.
   */
  enabled: boolean | "onDemand" | "approval";
  /** What its author says it needs; absent if that is not declared. */
  needs?: Needs;
} & Record<KindKey, DiscoveredItem[]> & { problems: Problem[] };

/** Everything that discovery found, in a fixed order. */
export interface Discovery {
  /** Absolute path of the project's folder. */
  project: string;
  /** Which packs are listed: those that the project declares, or all that are installed. */
  scope: "declared" | "all";
  /** Sorted by name, version and location. Includes broken packs with their problems. */
  packs: DiscoveredPack[];
  /** Problems that do not belong to a pack. */
  problems: Problem[];
}

export interface Manifest {
  text: string;
  value: Readonly<Record<string, unknown>>;
}

/** A pack with details that its public description omits, for the levels above discovery. */
export interface FoundPack {
  pack: DiscoveredPack;
  manifest: Manifest;
  /** Of its skills, those that it has. */
  extension: Extension;
  /** Whether package.json has the field. Otherwise the pack has skills alone. */
  hasField: boolean;
  /** Whether its package.json allows this host to use the pack. */
  isUsable: boolean;
}
