import fetch, { type FetchAnswer } from "npm-registry-fetch";
import type { NpmConfiguration } from "../../files/npm-configuration.ts";
import { AnswerBounds, AnswerTooLongError, UnknownEncodingError } from "./bounded-answer.ts";
import { type FetchOptions, toFetchOptions } from "./fetch-options.ts";

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

export interface RegistryClient {
  /** Addresses of all registries that the configuration names, npm's usual one first. */
  registries: readonly string[];
  /** The registry that npm would install a package from. */
  registryOf(packageName: string): string;
  /** An address as people may see it: without credentials. */
  show(address: string): string;
  /** Never rejects. */
  get(request: RegistryRequest): Promise<RegistryAnswer>;
}

/** Beyond this, an answer "later" is a refusal. Dates are read too. */
function readRetryAfter(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** What is known of an error: never its message, which may repeat addresses with credentials in them. */
interface FetchFault {
  statusCode?: unknown;
  code?: unknown;
  name?: unknown;
  type?: unknown;
  headers?: Record<string, string[] | undefined>;
}

const describeStatus = (status: number): string => {
  if (status === 401) return "wants credentials that npm's configuration does not have (401)";
  if (status === 403) return "refuses access (403)";
  return `answers with status ${status}`;
};

const unreachable = new Map([
  ["ENOTFOUND", "cannot be found: there is no such host, or no network"],
  ["EAI_AGAIN", "cannot be found: there is no network"],
  ["ECONNREFUSED", "cannot be reached: it refuses connections"],
]);

function describeFault(error: unknown): RegistryAnswer {
  if (error instanceof UnknownEncodingError)
    return { state: "failed", reason: "answers in an encoding that was not asked for", isDown: false };
  const { statusCode, code, name, type, headers } = error as FetchFault;
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
    known ?? `cannot be read (${/^[A-Z0-9_]{3,60}$/.test(String(code)) ? code : "it breaks off"})`;
  return { state: "failed", reason, isDown: true };
}

async function readBody({ body }: FetchAnswer): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts);
}

/** A number of bytes as people read it. */
const formatBytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;

/** A scoped package's name is one segment of a path. */
export function escapePackageName(name: string): string {
  return encodeURIComponent(name).replace(/^%40/, "@");
}

function withoutCredentials(address: string): string {
  const url = new URL(address);
  return `${url.origin}${url.pathname}`;
}

/** What npm-registry-fetch tells npm's agent of a request to an address. */
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
 * A client of the registries of the user's npm configuration. The only place that
 * uses the network for looking at packages. It follows redirects as npm does: credentials stay with their host.
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
        // Whether to ask again is decided above: one of several that are asked at once may not answer at all.
        retry: { retries: 0 },
        signal: AbortSignal.any(signal === undefined ? limits : [...limits, signal]),
        agent: bounds.createAgent(agentOptions(url, common)),
      });
      if (answer.status === 304) return { state: "unchanged" };
      const bytes = await bounds.decode(await readBody(answer));
      if (bounds.isExceeded) throw new AnswerTooLongError();
      return { state: "read", bytes, etag: answer.headers.get("etag") ?? undefined };
    } catch (error) {
      const { statusCode } = error as FetchFault;
      if (!(error instanceof AnswerTooLongError || (bounds.isExceeded && statusCode === undefined)))
        return describeFault(error);
      const reason = `sends more than ${formatBytes(maximumBytes)}, the limit of such an answer`;
      return { state: "failed", reason, isDown: false };
    } finally {
      bounds.end();
    }
  }

  return { registries: [...new Set(addresses)], registryOf, show: withoutCredentials, get };
}

/**
 * Where a tarball is to be had: at its own address, but for one of npm's usual registry, which another registry serves
 * in its place, as npm does. `undefined` for what is no web address.
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
