import fetch, { type FetchAnswer } from "npm-registry-fetch";
import type { NpmConfiguration } from "../../files/npm-configuration.ts";
import { AnswerBounds, AnswerTooLongError, UnknownEncodingError } from "./bounded-answer.ts";
import { type FetchOptions, toFetchOptions } from "./fetch-options.ts";

export interface RegistryRequest {
  /** The address of a registry, or of a tarball with an empty `path`. */
  address: string;
  /** The path below the address, with the query. */
  path: string;
  accept?: string;
  /** The ETag of the cached response. */
  etag?: string | undefined;
  maximumBytes: number;
  /** The timeout of the whole request. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** The result of a request. Reasons continue after the registry's address and contain no credentials. */
export type RegistryAnswer =
  | { state: "read"; bytes: Uint8Array; etag: string | undefined }
  | { state: "unchanged" }
  | { state: "absent" }
  /** Rate-limited; `retryAfterMs` is the requested wait, if any. */
  | { state: "busy"; retryAfterMs: number | undefined }
  /** `isDown`: there was no response, so further requests are likely to fail too. */
  | { state: "failed"; reason: string; isDown: boolean };

export interface RegistryClient {
  /** Addresses of all configured registries, the default one first. */
  registries: readonly string[];
  /** The registry from which npm would install a package. */
  registryOf(packageName: string): string;
  /** An address without credentials, for messages. */
  show(address: string): string;
  /** Never rejects. */
  get(request: RegistryRequest): Promise<RegistryAnswer>;
}

/** Parses a Retry-After header, in seconds or as a date. */
function readRetryAfter(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** The part of an error that is used. The message is not, because it may contain addresses with credentials. */
interface FetchError {
  statusCode?: unknown;
  code?: unknown;
  name?: unknown;
  type?: unknown;
  headers?: Record<string, string[] | undefined>;
}

const describeStatus = (status: number): string => {
  if (status === 401) return "requires credentials that npm's configuration does not have (401)";
  if (status === 403) return "denies access (403)";
  return `returned status ${status}`;
};

const unreachable = new Map([
  ["ENOTFOUND", "cannot be found: the host is unknown, or there is no network"],
  ["EAI_AGAIN", "cannot be found: there is no network"],
  ["ECONNREFUSED", "refuses connections"],
]);

function describeFetchError(error: unknown): RegistryAnswer {
  if (error instanceof UnknownEncodingError)
    return { state: "failed", reason: "sent a response with an unsupported encoding", isDown: false };
  const { statusCode, code, name, type, headers } = error as FetchError;
  if (typeof statusCode === "number") {
    if (statusCode === 404 || statusCode === 405) return { state: "absent" };
    const retryAfter = headers?.["retry-after"]?.[0];
    if (statusCode === 429 || (statusCode === 503 && retryAfter !== undefined))
      return { state: "busy", retryAfterMs: readRetryAfter(retryAfter) };
    return { state: "failed", reason: describeStatus(statusCode), isDown: false };
  }
  const isTimeout = name === "AbortError" || name === "TimeoutError" || String(type).endsWith("timeout");
  if (isTimeout || /TIMEDOUT|TIMEOUT$/.test(String(code)))
    return { state: "failed", reason: "does not answer in time", isDown: true };
  const known = unreachable.get(String(code));
  const reason =
    known ??
    `cannot be read (${/^[A-Z0-9_]{3,60}$/.test(String(code)) ? code : "the connection was closed"})`;
  return { state: "failed", reason, isDown: true };
}

async function readBody({ body }: FetchAnswer): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts);
}

/** Formats a number of bytes in MiB. */
const formatBytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;

/** Escapes a package name as one path segment. */
export function escapePackageName(name: string): string {
  return encodeURIComponent(name).replace(/^%40/, "@");
}

function withoutCredentials(address: string): string {
  const url = new URL(address);
  return `${url.origin}${url.pathname}`;
}

/** The options that npm-registry-fetch would pass to npm's agent. */
function agentOptions(url: string, options: FetchOptions): Record<string, unknown> {
  const { ca, localAddress, maxSockets, noProxy, strictSSL, httpsProxy, proxy, timeout } = options;
  const auth = fetch.getAuth(url, options);
  return {
    ca,
    cert: auth.cert || options.cert,
    key: auth.key || options.key,
    localAddress,
    maxSockets,
    noProxy,
    proxy: httpsProxy || proxy,
    rejectUnauthorized: strictSSL !== false,
    timeout,
  };
}

/**
 * Creates a client for the registries in the user's npm configuration. Only this module looks up packages over the network.
 * Follows redirects like npm: credentials are sent only to their own host.
 */
export function createRegistryClient(configuration: NpmConfiguration): RegistryClient {
  const options = toFetchOptions(configuration);
  const registryOf = (name: string) => fetch.pickRegistry(name, options).replace(/\/*$/, "/");
  const scoped = Object.keys(options).filter((key) => /^@.*:registry$/.test(key));
  const addresses = [
    registryOf("trailblaze"),
    ...scoped.map((key) => String(options[key]).replace(/\/*$/, "/")),
  ];

  async function get(request: RegistryRequest): Promise<RegistryAnswer> {
    const { address, path, accept, etag, maximumBytes, timeoutMs, signal } = request;
    const url = `${address}${path}`;
    const bounds = new AnswerBounds(maximumBytes);
    const limits = [AbortSignal.timeout(timeoutMs), bounds.signal];
    const common = { ...options, registry: address, timeout: timeoutMs };
    try {
      const answer = await fetch(url, {
        ...common,
        headers: {
          accept: accept ?? "application/json",
          ...(etag === undefined ? {} : { "if-none-match": etag }),
        },
        // The caller decides about retries.
        retry: { retries: 0 },
        signal: AbortSignal.any(signal === undefined ? limits : [...limits, signal]),
        agent: bounds.createAgent(agentOptions(url, common)),
      });
      if (answer.status === 304) return { state: "unchanged" };
      const bytes = await bounds.decode(await readBody(answer));
      if (bounds.isExceeded) throw new AnswerTooLongError();
      return { state: "read", bytes, etag: answer.headers.get("etag") ?? undefined };
    } catch (error) {
      const { statusCode } = error as FetchError;
      if (!(error instanceof AnswerTooLongError || (bounds.isExceeded && statusCode === undefined)))
        return describeFetchError(error);
      const reason = `sent a response that exceeds the limit of ${formatBytes(maximumBytes)}`;
      return { state: "failed", reason, isDown: false };
    } finally {
      bounds.end();
    }
  }

  return { registries: [...new Set(addresses)], registryOf, show: withoutCredentials, get };
}

/**
 * The address of a tarball. Like npm, replaces the host of the default registry with the configured one. `undefined` if it
 * is not a web address.
 */
export function resolveTarball(address: string, registry: string): string | undefined {
  if (!/^https?:/i.test(address) || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  const configured = new URL(registry);
  if (url.host !== new URL(fetch.pickRegistry("trailblaze", {})).host || url.host === configured.host)
    return url.href;
  const { pathname, search } = url;
  return new URL(`${configured.pathname.replace(/\/$/, "")}${pathname}${search}`, configured).href;
}

// What looking around in registries may do: ask the registries that the user's npm is configured for, and nothing else.
