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

/** The parts of @npmcli/agent 4 that are used here; it ships no types. */
declare module "@npmcli/agent" {
  import type { Agent, ClientRequest } from "node:http";

  /** npm's agent for an address, shared by all requests with the same options. */
  export function getAgent(
    url: string,
    options: Record<string, unknown>,
  ): Agent & { addRequest(request: ClientRequest, options: object): void };
}

/** The function of npm-packlist 10, which ships no types. */
declare module "npm-packlist" {
  // biome-ignore lint/style/noDefaultExport: that is what the package has.
  export default function packlist(tree: object, options?: object): Promise<string[]>;
}
