import type { Extension } from "../extension-schema/index.ts";
import type { KindKey } from "../kinds.ts";
import type { Problem } from "../problems/index.ts";

/** How a pack comes to be here. */
export type Origin =
  /** The project itself. */
  | "self"
  /** Another package of the project's workspace. */
  | "workspace"
  /** A dependency that the project declares, of any kind. */
  | "direct"
  /** Installed, but named only by other packages. */
  | "transitive"
  /** In npm's folder of globally installed packages. */
  | "global";

/** An item as its pack's package.json declares it. */
export interface DiscoveredItem {
  name: string;
  qualifiedName: string;
  description: string | null;
}

/** A pack as its package.json describes it. Its texts are the author's own and not to be trusted. */
export type DiscoveredPack = {
  /** The npm name. */
  name: string;
  /** `publisher/pack`, or `pack` where the npm name has no scope. */
  qualifiedName: string;
  version: string | null;
  description: string | null;
  /** Absolute path of the package's folder, symbolic links followed. */
  location: string;
  origin: Origin;
  /** Another copy of the same pack comes first. */
  shadowed: boolean;
  /** Whether a session would take the pack, as far as package.json and the config's `packs` tell. */
  enabled: boolean;
} & Record<KindKey, DiscoveredItem[]> & { problems: Problem[] };

/** Everything that discovery found, in a fixed order. */
export interface Discovery {
  /** Absolute path of the project's folder. */
  project: string;
  /** By name, version and location. Broken packs are among them, with their problems. */
  packs: DiscoveredPack[];
  /** What concerns no pack in particular. */
  problems: Problem[];
}

/** A package.json that was read and is a JSON object. */
export interface Manifest {
  text: string;
  value: Readonly<Record<string, unknown>>;
}

/** A pack with what its public description leaves out, for the levels above discovery. */
export interface FoundPack {
  pack: DiscoveredPack;
  manifest: Manifest;
  extension: Extension;
  /** Whether nothing in its package.json keeps this host from using it. */
  isUsable: boolean;
}
