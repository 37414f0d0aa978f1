import { accessSync, constants, mkdirSync, readFileSync } from "node:fs";
import type { ClientRequest, IncomingMessage } from "node:http";
import { join } from "node:path";
import { getAgent } from "@npmcli/agent";
import fetch from "npm-registry-fetch";
import { DataSyntaxError, isRecord, parseJson } from "../../data/parse-json.ts";
import { attempt } from "../../files/file-errors.ts";
import type { NpmConfiguration } from "../../files/npm-configuration.ts";
import { findUserFolder } from "../../files/user-folders.ts";

const own = (value: unknown, key: string): unknown =>
  isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** The result of reading a document. Reasons continue after the registry's address and contain no credentials. */
export type RegistryRead =
  /** `failure`: the reason why the registry was not asked or did not answer, if the document is from the cache. */
  | { state: "read"; value: Readonly<Record<string, unknown>>; failure?: string }
  | { state: "absent" }
  | { state: "failed"; reason: string };

export type RegistryClient = ReturnType<typeof createRegistryClient>;

/** Options of npm-registry-fetch, which may include credentials. */
type FetchOptions = Record<string, unknown>;

const lineBreaks = (text: string | undefined) => text?.replace(/\\n/g, "\n");

/** Retries by npm's keys, shorter than npm's own, whose first takes ten seconds. */
export const usualRetries: ReadonlyMap<string, number> = new Map([
  ["fetch-retries", 2],
  ["fetch-retry-factor", 4],
  ["fetch-retry-mintimeout", 500],
  ["fetch-retry-maxtimeout", 10_000],
]);

/**
 * Converts npm's configuration to options of npm-registry-fetch. Excludes registries that are not web addresses. The result
 * may contain credentials: pass it only to npm-registry-fetch.
 */
export function toFetchOptions(configuration: NpmConfiguration): FetchOptions {
  const text = (key: string) => {
    const value = configuration.get(key);
    return typeof value === "string" && value !== "" && value !== "null" ? value : undefined;
  };
  // No prototype, because keys come from files.
  const options: FetchOptions = Object.create(null);
  for (const [key, value] of configuration) {
    const isRegistry = /^(?:@[^:]+:)?registry$/.test(key);
    if (isRegistry ? isWebAddress(value) : key.startsWith("//")) options[key] = value;
  }
  const ca = configuration.get("ca");
  const cafile = text("cafile");
  if (cafile !== undefined) options.ca = attempt(() => readFileSync(cafile, "utf8"));
  else options.ca = Array.isArray(ca) ? ca.map(lineBreaks) : lineBreaks(text("ca"));
  options.cert = lineBreaks(text("cert"));
  options.key = lineBreaks(text("key"));
  const proxy = text("proxy");
  if (proxy !== "false") options.proxy = proxy;
  options.httpsProxy = text("https-proxy");
  options.noProxy = text("noproxy");
  options.strictSSL = text("strict-ssl") !== "false";
  const [retries, factor, minTimeout, maxTimeout] = [...usualRetries].map(([key, usual]) =>
    Number(text(key) ?? usual),
  );
  options.retry = { retries, factor, minTimeout, maxTimeout };
  return options;
}

function isWebAddress(value: unknown): value is string {
  return typeof value === "string" && /^https?:\/\//i.test(value) && URL.canParse(value);
}

/** A failed request. `isDown`: there was no response, so further requests are likely to fail too. */
const failed = (reason: string, isDown = false) => ({ state: "failed" as const, reason, isDown });

const reasons = new Map([
  ["E401", "requires credentials that npm's configuration does not have (401)"],
  ["E403", "denies access (403)"],
  ["E429", "is rate-limiting requests (429)"],
  ["ENOTFOUND", "cannot be found: the host is unknown, or there is no network"],
  ["EAI_AGAIN", "cannot be found: there is no network"],
  ["ECONNREFUSED", "refuses connections"],
]);

/** `code`: `E` and a status, or a code of Node. */
export function explainFailure(code: string): string {
  if (/TIMEDOUT|TIMEOUT$/.test(code)) return "does not answer in time";
  const [, status] = /^E(\d{3})$/.exec(code) ?? [];
  const known = /^[A-Z0-9_]{3,60}$/.test(code) ? code : "the connection was closed";
  return reasons.get(code) ?? (status ? `returned status ${status}` : `cannot be read (${known})`);
}

/** The message is not used, because it may contain addresses with credentials. */
function describeFetchError(error: unknown): ReturnType<typeof failed> | { state: "absent" } {
  const { statusCode, code, name, type } = error as Readonly<Record<string, unknown>>;
  if (statusCode === 404 || statusCode === 405) return { state: "absent" };
  const isTimeout = name === "AbortError" || name === "TimeoutError" || String(type).endsWith("timeout");
  // A code of a 401 may say what it asks for instead.
  const known = isTimeout ? "TIMEOUT" : statusCode === undefined ? code : `E${statusCode}`;
  return failed(explainFailure(String(known)), statusCode === undefined || statusCode === 429);
}

function withoutCredentials(address: string): string {
  const url = new URL(address);
  return `${url.origin}${url.pathname}`;
}

/**
 * The option `agent` of npm-registry-fetch: npm's agent with the options that it would have. It hides two headers of a
 * response: an encoding that was not requested, because the decoder of `deflate` throws an error that cannot be caught,
 * and `vary`, because the cache would store the named headers of the request, which may be credentials.
 */
function createAgent(url: string, options: FetchOptions): (url: URL) => object {
  const { ca, noProxy, strictSSL, httpsProxy, proxy, timeout } = options;
  const auth = fetch.getAuth(url, options);
  const { cert, key } = { cert: auth.cert || options.cert, key: auth.key || options.key };
  const rejectUnauthorized = strictSSL !== false;
  const connection = { ca, cert, key, noProxy, rejectUnauthorized, timeout };
  return (target) => {
    const agent = getAgent(target.href, { ...connection, proxy: httpsProxy || proxy });
    const addRequest = (request: ClientRequest, requestOptions: object) => {
      // Runs before the listener of npm-registry-fetch.
      request.once("response", ({ headers }: IncomingMessage) => {
        delete headers.vary;
        if (headers["content-encoding"] !== "gzip") delete headers["content-encoding"];
      });
      agent.addRequest(request, requestOptions);
    };
    return Object.assign(Object.create(agent), { addRequest });
  };
}

/** The folder of cached responses; `undefined` if it cannot be written. */
function openCache(): string | undefined {
  const caches = findUserFolder("cache");
  return attempt(() => {
    if (caches === undefined) return undefined;
    const folder = join(caches, "trailblaze", "registry");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
    return folder;
  });
}

/**
 * Creates a client for the registries in the user's npm configuration. Only this module looks up packages over the network:
 * it asks these registries and nothing else, with the cache, the retries and the redirects of npm, which sends credentials
 * only to their own host. Responses are used from the cache if a registry is unavailable.
 */
export function createRegistryClient(
  configuration: NpmConfiguration,
  {
    mode,
    timeoutMs,
    signal,
  }: {
    /** `refresh` checks cached documents again even if they are fresh; `offline` makes no requests. */
    mode: "normal" | "refresh" | "offline";
    /** Of one document, with its retries. */
    timeoutMs: number;
    signal?: AbortSignal | undefined;
  },
) {
  const options = toFetchOptions(configuration);
  /** The registry from which npm would install a package. */
  const registryOf = (name: string) => fetch.pickRegistry(name, options).replace(/\/*$/, "/");
  const scoped = Object.keys(options).filter((key) => /^@.*:registry$/.test(key));
  const addresses = [
    registryOf("trailblaze"),
    ...scoped.map((key) => String(options[key]).replace(/\/*$/, "/")),
  ];
  const cache = openCache();
  /** Reasons why registries are asked no more, by address. */
  const down = new Map<string, string>();

  async function request(address: string, path: string, offline: boolean) {
    const url = `${address}${path}`;
    const common = { ...options, registry: address, timeout: timeoutMs };
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const answer = await fetch(url, {
        ...common,
        headers: { accept: "application/json", "accept-encoding": "gzip" },
        agent: createAgent(url, common),
        // The cache stores addresses, which may have credentials.
        cache: withoutCredentials(url) === new URL(url).href.replace(/[?#].*/, "") ? cache : undefined,
        offline,
        preferOnline: mode === "refresh",
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
      if (!offline && answer.headers.get("x-local-cache-status") === "stale")
        return failed(timeout.aborted ? "does not answer in time" : "cannot be reached", true);
      const { value } = parseJson(await answer.text());
      return isRecord(value) ? { state: "read" as const, value } : failed("sent an unexpected response");
    } catch (error) {
      if (error instanceof DataSyntaxError) return failed("sent an invalid JSON response");
      return describeFetchError(error);
    }
  }

  /** Never rejects. */
  async function read(address: string, path: string): Promise<RegistryRead> {
    let reason = mode === "offline" ? "was not contacted" : down.get(address);
    if (reason === undefined) {
      const answer = await request(address, path, false);
      if (answer.state !== "failed") return answer;
      reason = answer.reason;
      if (answer.isDown) down.set(address, reason);
    }
    const cached = await request(address, path, true);
    if (cached.state === "read") return { ...cached, failure: reason };
    return {
      state: "failed",
      reason: mode === "offline" ? `${reason}, and the cache has no response` : reason,
    };
  }

  /**
   * Reads the manifest of a version or a tag, from the document of all versions if the registry has no separate one, as
   * those of GitHub and GitLab. Never rejects.
   */
  async function readManifest(address: string, name: string, versionOrTag: string): Promise<RegistryRead> {
    const path = encodeURIComponent(name).replace(/^%40/, "@");
    const short = await read(address, `${path}/${encodeURIComponent(versionOrTag)}`);
    if (short.state !== "absent") return short;
    const long = await read(address, path);
    if (long.state !== "read") return long;
    const tagged = own(long.value["dist-tags"], versionOrTag);
    const value = own(long.value.versions, typeof tagged === "string" ? tagged : versionOrTag);
    return isRecord(value) ? { ...long, value } : { state: "absent" };
  }

  /** The default one first. */
  const registries = [...new Set(addresses)];
  return { registries, registryOf, show: withoutCredentials, read, readManifest };
}
