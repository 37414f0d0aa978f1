import type { Agent, IncomingMessage } from "node:http";
import { addAbortSignal, Readable } from "node:stream";
import type { NpmConfiguration } from "../../files/npm-configuration.ts";
import { isLoopback } from "../http/http-options.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for a URL: that of npm's configuration, which registries are reached through, otherwise that of the environment.
 * `undefined` for loopback and for the hosts that NO_PROXY names, with their subdomains, perhaps with a port; `*` names all.
 */
export function findProxy(
  url: URL,
  configuration: NpmConfiguration,
  environment: Environment,
): string | undefined {
  const ofNpm = (key: string) => {
    const value = configuration.get(key);
    return typeof value === "string" && !["", "null", "false"].includes(value) ? value : undefined;
  };
  const ofHost = (name: string) => environment[name] || environment[name.toUpperCase()] || undefined;
  const isSecure = url.protocol === "https:";
  const { hostname } = url;
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const spellings = [host, hostname, `${hostname}:${url.port || (isSecure ? 443 : 80)}`];
  const excluded = (ofNpm("noproxy") ?? ofHost("no_proxy") ?? "").toLowerCase().split(/[\s,]+/);
  const names = excluded.map((entry) => entry.replace(/^\*?\./, "")).filter((name) => name !== "");
  const isExcluded = names.some(
    (name) => name === "*" || spellings.some((one) => one === name || one.endsWith(`.${name}`)),
  );
  if (isLoopback(host) || isExcluded) return undefined;
  const proxy = isSecure
    ? (ofNpm("https-proxy") ?? ofNpm("proxy") ?? ofHost("https_proxy"))
    : (ofNpm("proxy") ?? ofNpm("https-proxy") ?? ofHost("http_proxy") ?? ofHost("https_proxy"));
  return proxy === undefined || proxy.includes("://") ? proxy : `http://${proxy}`;
}

/** A proxy for people, without credentials. */
export const showProxy = (proxy: string): string =>
  URL.canParse(proxy) ? `${new URL(proxy).protocol}//${new URL(proxy).host}` : "whose address is not a URL";

/** Like Node's errors, it tells that there is no connection. */
const proxyRefusal = (status: number | undefined) =>
  Object.assign(new Error(`it answered with HTTP status ${status}`), { syscall: "connect" });

/** An idle connection is closed before servers of Node close it, which takes them 5 s. Milliseconds. */
const idleMs = 4000;
const directAgents: Record<string, Agent> = {};

/**
 * `fetch`, perhaps through a proxy, without redirects and without a limit of time: Node's own gives up after five minutes of
 * silence. Rejects with errors for `findReason`.
 */
export async function fetchThrough(proxy: string | undefined, url: URL, init: RequestInit) {
  const { Agent, request } = await (url.protocol === "https:" ? import("node:https") : import("node:http"));
  directAgents[url.protocol] ??= new Agent({ keepAlive: true, timeout: idleMs });
  const options = { proxy, noProxy: [], maxSockets: Number.POSITIVE_INFINITY };
  const agent = proxy
    ? (await import("@npmcli/agent")).getAgent(url.href, options)
    : directAgents[url.protocol];
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(url, {
      agent,
      method: init.method,
      headers: {
        // As `fetch` sends it.
        "user-agent": "node",
        ...Object.fromEntries(new Headers(init.headers)),
        // Nothing here would decode an answer.
        "accept-encoding": "identity",
      },
      signal: init.signal ?? undefined,
    });
    // Otherwise, the answer to CONNECT would count as the server's.
    sent.on("proxyConnect", ({ statusCode }: { statusCode: number }) => {
      if (statusCode !== 200) sent.destroy(proxyRefusal(statusCode));
    });
    sent.on("response", (received) => {
      if (received.statusCode !== 407 || proxy === undefined)
        return resolve(init.signal ? addAbortSignal(init.signal, received) : received);
      reject(proxyRefusal(407));
      received.destroy();
    });
    sent.on("error", reject).end(init.body);
  });
  const headers = new Headers();
  for (let at = 0; at + 1 < answer.rawHeaders.length; at += 2)
    headers.append(answer.rawHeaders[at] as string, answer.rawHeaders[at + 1] as string);
  const status = answer.statusCode ?? 0;
  const hasBody = ![204, 205, 304].includes(status);
  if (!hasBody) answer.resume();
  return new Response(hasBody ? (Readable.toWeb(answer) as ReadableStream) : null, { status, headers });
}

/** Why there is no connection: Node's reason is in the causes. `isBefore`: nothing was sent. */
export function findReason(error: unknown): { text: string; isBefore: boolean } {
  let reason = error;
  while (reason instanceof Error && reason.cause !== undefined) reason = reason.cause;
  if (reason instanceof AggregateError && reason.errors.length > 0) reason = reason.errors.at(-1);
  if (!(reason instanceof Error)) return { text: String(reason), isBefore: false };
  const { code, syscall } = reason as { code?: unknown; syscall?: unknown };
  // OpenSSL's messages have addresses and source lines.
  const isTls = typeof code === "string" && code.startsWith("ERR_SSL_");
  const text = isTls ? `TLS error ${code}` : reason.message;
  return { text, isBefore: syscall === "connect" || syscall === "getaddrinfo" };
}

/** The start of a body, as far as it arrives in time. `isWhole`: rejects if that is not all of it. */
export async function readStart(
  { body }: Response,
  mostBytes: number,
  limitMs: number,
  isWhole = false,
): Promise<Buffer> {
  const signal = AbortSignal.timeout(limitMs);
  const chunks: Uint8Array[] = [];
  let left = mostBytes;
  try {
    for await (const chunk of body?.pipeThrough(new TransformStream<Uint8Array>(), { signal }) ?? []) {
      chunks.push(chunk.subarray(0, left));
      left -= chunk.length;
      // Leaving the loop closes the connection.
      if (left < 0) break;
    }
  } catch (error) {
    // What has arrived says enough.
    if (isWhole) throw error;
  }
  if (isWhole && left < 0) throw new Error(`an answer has more than ${mostBytes} bytes`);
  return Buffer.concat(chunks);
}
