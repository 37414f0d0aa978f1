// Everything that discovery can do on the machine. Trust is a capability: code with only this port cannot open a pack's
// other files, run code, or use the network, because there is no method for it.

import type { Dirent } from "node:fs";

export const maximumManifestBytes = 1 << 20;

/** Limit on the size of other files of a project. */
export const maximumProjectFileBytes = 16 << 20;

/** Limits on the search for workspaces in one discovery, including those that may contain the project. */
export const workspaceLimits = {
  /** Size of pnpm-workspace.yaml: parsing YAML takes seconds per MiB. */
  bytes: 1 << 20,
  /** Patterns without braces that one pattern stands for. */
  alternatives: 500,
  folders: 50_000,
} as const;

export type DirectoryEntry = Pick<Dirent, "name" | "isDirectory" | "isSymbolicLink">;

/** What is in a package.json, or why that cannot be read. */
export type ManifestRead =
  /** Bytes that are not UTF-8 are replaced. */
  | { text: string; isUtf8: boolean }
  | { reason: string }
  /** So many bytes that not even a search for the field is promised. */
  | { tooLarge: number };

/** The names of a project's config; the second is a common mistake, which is reported. */
export const configFiles = [
  "trailblaze.config.yaml",
  "trailblaze.config.yml",
  "trailblaze.config.json",
] as const;

/** Files of a project that determine its packages and the user's policy. */
export type ProjectFile =
  | (typeof configFiles)[number]
  | "pnpm-workspace.yaml"
  | "trailblaze.lock"
  | ".pnp.cjs"
  | ".pnp.js"
  | "deno.json"
  | "deno.jsonc"
  | "deno.lock"
  | "yarn.lock";

export interface DiscoveryPort {
  /** Entries of a folder, in any order; `undefined` if it cannot be read. */
  listDirectory(directory: string): DirectoryEntry[] | undefined;
  exists(path: string): boolean;
  /** The real path; `undefined` if it does not exist or links form a cycle. */
  realPath(path: string): string | undefined;
  /** Whether a file belongs to the user of this process, to root, or to the owner of `reference`; on Windows always. */
  isTrusted(path: string, reference: string): boolean;
  /** Reads the package.json in a folder; `undefined` if there is none. */
  readManifest(directory: string): ManifestRead | undefined;
  /** The bytes of a file of the project; `undefined` if it does not exist or exceeds 16 MiB. */
  readProjectFile(directory: string, file: ProjectFile): Uint8Array | undefined;
  /** Whether a file of the project exists, be it unreadable or a link that leads nowhere. */
  hasProjectFile(directory: string, file: ProjectFile): boolean;
  globalPackages(): Promise<string>;
}
