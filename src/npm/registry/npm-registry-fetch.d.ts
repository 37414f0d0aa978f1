/** The parts of npm-registry-fetch 19 that are used here; it ships no types. */
declare module "npm-registry-fetch" {
  export interface FetchAnswer {
    readonly headers: { get(name: string): string | null };
    text(): Promise<string>;
  }

  interface RegistryFetch {
    /** Rejects if the status is 400 or higher. The error has `statusCode`. */
    (uri: string, options: Record<string, unknown>): Promise<FetchAnswer>;
    /** The client certificate that is configured for an address, among other credentials. */
    getAuth(uri: string, options: Record<string, unknown>): { cert?: string | null; key?: string | null };
    pickRegistry(spec: string, options: Record<string, unknown>): string;
  }

  const fetch: RegistryFetch;
  // biome-ignore lint/style/noDefaultExport: the package has a default export.
  export default fetch;
}

/** The parts of npm-package-arg 13 that are used here; it ships no types. */
declare module "npm-package-arg" {
  export interface PackageSpec {
    readonly type: "git" | "tag" | "version" | "range" | "file" | "directory" | "remote" | "alias";
    readonly registry?: boolean;
    /** The package's name; `null` if the spec has none. */
    readonly name?: string | null;
    readonly rawSpec: string;
    readonly fetchSpec: string | null;
    /** What follows the `#` of a git repository, if it is a commit, a branch or a tag. */
    readonly gitCommittish?: string | null;
  }

  interface Parse {
    /** Throws if npm does not allow the name. */
    (spec: string, where?: string): PackageSpec;
    /** Parses the spec of a dependency. Throws for a protocol that npm does not have. */
    resolve(name: string, spec: string): PackageSpec;
  }

  const parse: Parse;
  // biome-ignore lint/style/noDefaultExport: the package has a default export.
  export default parse;
}
