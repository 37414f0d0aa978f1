// What npm would put into the tarball of a package. npm itself never runs: its `pack` runs the package's scripts.

export interface PackingRequest {
  /** Folder of the package. */
  packageRoot: string;
  manifest: Readonly<Record<string, unknown>>;
  /** The files in question, relative to the package, with `/`. */
  files: readonly string[];
  /** The workspace that the package belongs to: its root's ignore files count, and its members are left out. */
  workspace?: { root: string; members: readonly string[] } | undefined;
}

export interface PackingPort {
  /** Which of the files npm would publish; `undefined` where that cannot be told. */
  findPacked(request: PackingRequest): Promise<ReadonlySet<string> | undefined>;
}
