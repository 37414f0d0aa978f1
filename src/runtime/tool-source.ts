import type { DiscoveredPack } from "../discovery/types.ts";

/** Where a tool comes from. */
export interface ToolSource {
  type: "pack" | "config" | "builtIn";
  /** npm name. */
  pack?: string;
  version?: string;
  /** The item's own name. */
  item?: string;
  /** The server that advertises it: an item's name, or the user's name for it. */
  server?: string;
  /** Where it is declared: inside the pack, with `/`; absolute for the user's own. */
  file?: string;
}

/** Whose code a tool is: a pack, or the host itself. */
export interface CodeOwner {
  /** `undefined` for the host's own tools. */
  pack: DiscoveredPack | undefined;
  /** Absolute path that its modules must lie in. */
  root: string;
}
