/** The parts of npm-registry-fetch 19 that are used here; it ships no types. */
declare module "npm-registry-fetch" {
  export interface FetchAnswer {
    readonly status: number;
    readonly headers: { get(name: string): string | null };
    /** Decoded, so that its size is that of what arrives. */
    readonly body: AsyncIterable<Uint8Array> & { destroy(): void; resume(): void };
  }

  interface RegistryFetch {
    /** Rejects for every status from 400, with `statusCode` and `headers` of lists. */
    (uri: string, options: Record<string, unknown>): Promise<FetchAnswer>;
    pickRegistry(spec: string, options: Record<string, unknown>): string;
  }

  const fetch: RegistryFetch;
  // biome-ignore lint/style/noDefaultExport: that is what the package has.
  export default fetch;
}
