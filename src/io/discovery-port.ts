// What discovery may do to the machine, and nothing else. Trust is a capability: whoever holds only this port
// cannot open a pack's other files, run code, or use the network, because there is no method for it.

/** The most that is read of a package.json. */
export const maximumManifestBytes = 1 << 20;

/** An entry of a folder that holds packages. */
export interface DirectoryEntry {
  name: string;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/** What reading a package.json gave. */
export type ManifestRead =
  /** There is none. */
  | { state: "absent" }
  /** It is well-formed at both ends and does not mention us: no pack, nothing to report. */
  | { state: "irrelevant" }
  | { state: "read"; bytes: Uint8Array }
  | { state: "unusable"; reason: string }
  | { state: "tooLarge"; bytes: number };

/** Files at the top of a project that tell where its packages are, and what the user allows. */
export type ProjectFile =
  | "trailblaze.config.yaml"
  | "trailblaze.config.yml"
  | "trailblaze.config.json"
  | "pnpm-workspace.yaml"
  | ".pnp.cjs"
  | ".pnp.js"
  | "yarn.lock"
  | "node_modules/.modules.yaml";

export interface DiscoveryPort {
  /** Entries of a folder, in any order; `undefined` where there is none that can be read. */
  listDirectory(directory: string): DirectoryEntry[] | undefined;
  exists(path: string): boolean;
  /** Whether the path itself, not a folder above it, is a symbolic link. */
  isLink(path: string): boolean;
  /** The path with every symbolic link followed; `undefined` where nothing is, or links go in a circle. */
  realPath(path: string): string | undefined;
  /**
   * Reads the package.json in a folder. With `"ifRelevant"`, one that begins with `{`, ends with `}` and does not
   * hold the text `"trailblaze"` is passed over.
   */
  readManifest(directory: string, which: "always" | "ifRelevant"): ManifestRead;
  /** The bytes of a file of the project; `undefined` where there is none. */
  readProjectFile(directory: string, file: ProjectFile): Uint8Array | undefined;
  hasProjectFile(directory: string, file: ProjectFile): boolean;
  /** Folders below `root` with a package.json that match the patterns of a workspace, in any order. */
  findWorkspaces(root: string, patterns: readonly string[]): Promise<string[]>;
  /** npm's folder of globally installed packages. */
  globalPackages(): Promise<string>;
}
