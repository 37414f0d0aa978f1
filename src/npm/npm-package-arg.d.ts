/** The parts of npm-package-arg 13 that are used here; it ships no types. */
declare module "npm-package-arg" {
  export interface PackageSpec {
    readonly type: "git" | "tag" | "version" | "range" | "file" | "directory" | "remote" | "alias";
    readonly registry?: boolean;
    /** The package's name, where the spec tells one. */
    readonly name?: string | null;
    readonly rawSpec: string;
    readonly fetchSpec: string | null;
  }

  /** Throws for a name that npm allows no package to have. */
  function parse(spec: string, where?: string): PackageSpec;
  // biome-ignore lint/style/noDefaultExport: that is what the package has.
  export default parse;
}
