// What looking around in registries may do: ask the registries that the user's npm is configured for, and nothing else.

export interface RegistryRequest {
  /** One of the registries' addresses, or a tarball's with `path` empty. */
  address: string;
  /** Below the address, with its query. */
  path: string;
  accept?: string;
  /** Of the answer that is at hand: one that has not changed need not be sent again. */
  etag?: string | undefined;
  maximumBytes: number;
  /** For the whole answer. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** What asking gave. Reasons go on from the registry's address and tell no credentials. */
export type RegistryAnswer =
  | { state: "read"; bytes: Uint8Array; etag: string | undefined }
  | { state: "unchanged" }
  | { state: "absent" }
  /** It wants to be asked later; without a time it does not say when. */
  | { state: "busy"; retryAfterMs: number | undefined }
  /** `isDown`: nothing came, so the next request is not likely to fare better. */
  | { state: "failed"; reason: string; isDown: boolean };

export interface RegistryPort {
  /** Addresses of all registries that the configuration names, npm's usual one first. */
  registries: readonly string[];
  /** The registry that npm would install a package from. */
  registryOf(packageName: string): string;
  /** An address as people may see it: without credentials. */
  show(address: string): string;
  /** Never rejects. */
  get(request: RegistryRequest): Promise<RegistryAnswer>;
}
