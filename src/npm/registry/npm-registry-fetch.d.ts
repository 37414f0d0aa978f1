/** The parts of npm-registry-fetch 19 that are used here; it ships no types. */
declare module "npm-registry-fetch" {
  export interface FetchAnswer {
    readonly status: number;
    readonly headers: { get(name: string): string | null };
    readonly body: AsyncIterable<Uint8Array>;
  }

  interface RegistryFetch {
    /** Rejects for every status from 400, with `statusCode` and `headers` of lists. */
    (uri: string, options: Record<string, unknown>): Promise<FetchAnswer>;
    /** The client certificate that is configured for an address, among other credentials. */
    getAuth(uri: string, options: Record<string, unknown>): { cert?: string | null; key?: string | null };
    pickRegistry(spec: string, options: Record<string, unknown>): string;
  }

  const fetch: RegistryFetch;
  // biome-ignore lint/style/noDefaultExport: that is what the package has.
  export default fetch;
}

/** The parts of npm-package-arg 13 that are used here; it ships no types. */
declare module "npm-package-arg" {
  export interface PackageSpec {
    readonly type: "git" | "tag" | "version" | "range" | "file" | "directory" | "remote" | "alias";
    readonly registry?: boolean;
    /** The package's name, where the spec tells one. */
    readonly name?: string | null;
    readonly rawSpec: string;
    readonly fetchSpec: string | null;
    /** What follows the `#` of a git repository, if it is a commit, a branch or a tag. */
    readonly gitCommittish?: string | null;
  }

  interface Parse {
    /** Throws for a name that npm allows no package to have. */
    (spec: string, where?: string): PackageSpec;
    /** Parses the spec of a dependency. Throws for a protocol that npm does not have. */
    resolve(name: string, spec: string): PackageSpec;
  }

  const parse: Parse;
  // biome-ignore lint/style/noDefaultExport: that is what the package has.
  export default parse;
}
