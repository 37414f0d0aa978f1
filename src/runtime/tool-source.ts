import type { DiscoveredPack } from "../discovery/types.ts";

/** Where a tool comes from. */
export interface ToolSource {
  type: "pack" | "config" | "builtIn";
  /** npm name. */
  pack?: string;
  version?: string;
  /** The item's name within its pack. */
  item?: string;
  /** The server that advertises it: an item's name, or the name in the user's config. */
  server?: string;
  /** Where it is declared: a path inside the pack, with `/`; an absolute path for a tool of the user's config. */
  file?: string;
}

/** The owner of a tool's code: a pack, or the host itself. */
export interface CodeOwner {
  /** `undefined` for the host's own tools. */
  pack: DiscoveredPack | undefined;
  /** Absolute path that contains its modules. */
  root: string;
  /** A hash of the code, if it may change while the process runs. Different code has a runner of its own. */
  content?: string;
}
