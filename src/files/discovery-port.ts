// What discovery may do to the machine, and nothing else. Trust is a capability: whoever holds only this port
// cannot open a pack's other files, run code, or use the network, because there is no method for it.

/** The most that is read of a package.json. */
export const maximumManifestBytes = 1 << 20;

/** The most that is read of another file of a project. */
export const maximumProjectFileBytes = 16 << 20;

/** What one discovery spends on finding workspaces at most, its own and those that the project may belong to. */
export const workspaceLimits = {
  /** Of pnpm-workspace.yaml: parsing YAML takes seconds for each MiB. */
  bytes: 1 << 20,
  /** Characters of a pattern. */
  length: 1024,
  /** Patterns of a workspace with their braces written out. */
  alternatives: 5000,
  /** Folders to look into. */
  folders: 50_000,
  /** Paths to compare with patterns, and what compiling these costs in the same measure. */
  steps: 10_000_000,
} as const;

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

/** What is left of the limits; a search takes from it what it uses. */
export interface WorkspaceBudget {
  folders: number;
  steps: number;
}

/** Why packages of a workspace may be missing. */
export interface WorkspaceObstacle {
  /** Of the pattern that is the cause. */
  index?: number;
  /** The limit that is reached. */
  cause: "length" | "alternatives" | "folders" | "steps" | "failed";
  /** Why the search failed. */
  reason?: string | undefined;
}

export interface WorkspaceSearch {
  /** Absolute paths, in any order. */
  folders: string[];
  obstacles: WorkspaceObstacle[];
}

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
  /** The bytes of a file of the project; `undefined` where there is none, or one of more than 16 MiB. */
  readProjectFile(directory: string, file: ProjectFile): Uint8Array | undefined;
  hasProjectFile(directory: string, file: ProjectFile): boolean;
  /** Finds folders with a package.json that match the patterns of a workspace, as far as the budget goes. Never rejects. */
  findWorkspaces(
    root: string,
    patterns: readonly string[],
    budget: WorkspaceBudget,
  ): Promise<WorkspaceSearch>;
  /** npm's folder of globally installed packages. */
  globalPackages(): Promise<string>;
}
