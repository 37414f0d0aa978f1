import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { Readable } from "node:stream";
import type { NpmConfiguration } from "../../files/npm-configuration.ts";
import { isLoopback } from "../http/http-options.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Whether an entry of NO_PROXY names a host: `*`, a name with or without a dot or `*.` before it, an address or a range, with a port or without. */
function matches(entry: string, host: string, port: string): boolean {
  const isAddress = isIP(entry) === 6;
  const [, bracketed, plain, only] = isAddress
    ? [undefined, undefined, entry, undefined]
    : (/^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d+))?$/.exec(entry) ?? []);
  const name = (bracketed ?? plain ?? "").replace(/^\*?\./, "");
  if (only !== undefined && only !== port) return false;
  if (name === "*" || name === host) return true;
  return name !== "" && isIP(host) === 0 && host.endsWith(`.${name}`);
}

function isInRange(entry: string, host: string): boolean {
  const [, address = "", bits] = /^([\d.a-f:]+)\/(\d{1,3})$/.exec(entry) ?? [];
  const version = isIP(address);
  if (version === 0 || version !== isIP(host) || Number(bits) > (version === 4 ? 32 : 128)) return false;
  const type = version === 4 ? "ipv4" : "ipv6";
  const range = new BlockList();
  range.addSubnet(address, Number(bits), type);
  return range.check(host, type);
}

/**
 * The proxy for a URL: that of npm's configuration, which registries are reached through, otherwise that of the environment.
 * `undefined` for loopback and for what NO_PROXY names.
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
  const host = url.hostname.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  const isSecure = url.protocol === "https:";
  const port = url.port || (isSecure ? "443" : "80");
  const excluded = (ofNpm("noproxy") ?? ofHost("no_proxy") ?? "").toLowerCase().split(/[\s,]+/);
  if (isLoopback(host) || excluded.some((entry) => matches(entry, host, port) || isInRange(entry, host)))
    return undefined;
  const proxy = isSecure
    ? (ofNpm("https-proxy") ?? ofNpm("proxy") ?? ofHost("https_proxy"))
    : (ofNpm("proxy") ?? ofNpm("https-proxy") ?? ofHost("http_proxy") ?? ofHost("https_proxy"));
  return proxy === undefined || proxy.includes("://") ? proxy : `http://${proxy}`;
}

/** A proxy for people, without credentials. */
export const showProxy = (proxy: string): string =>
  URL.canParse(proxy) ? `${new URL(proxy).protocol}//${new URL(proxy).host}` : "whose address is not a URL";

/** The answer of a proxy that does not connect. */
export class ProxyRefusal extends Error {
  override readonly name = "ProxyRefusal";
}

function toResponse(answer: IncomingMessage): Response {
  const headers = new Headers();
  for (let at = 0; at + 1 < answer.rawHeaders.length; at += 2)
    headers.append(answer.rawHeaders[at] as string, answer.rawHeaders[at + 1] as string);
  const status = answer.statusCode ?? 0;
  const hasBody = ![204, 205, 304].includes(status);
  if (!hasBody) answer.resume();
  return new Response(hasBody ? (Readable.toWeb(answer) as ReadableStream) : null, { status, headers });
}

/** `fetch` through a proxy, with npm's agent, and without redirects. Rejects with Node's errors and `ProxyRefusal`. */
export async function fetchThrough(proxy: string, url: URL, init: RequestInit): Promise<Response> {
  const isSecure = url.protocol === "https:";
  const [{ getAgent }, { request }] = await Promise.all([
    import("@npmcli/agent"),
    isSecure ? import("node:https") : import("node:http"),
  ]);
  const agent = getAgent(url.href, { proxy, noProxy: [], maxSockets: Number.POSITIVE_INFINITY });
  return new Promise((resolve, reject) => {
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
    const refuse = (status: number) =>
      reject(
        new ProxyRefusal(
          status === 407
            ? "it requires credentials (HTTP status 407)"
            : `it answered with HTTP status ${status}`,
        ),
      );
    // Otherwise, the answer to CONNECT would count as the server's.
    sent.on("proxyConnect", ({ statusCode }: { statusCode: number }) => {
      if (statusCode !== 200) refuse(statusCode);
    });
    sent.on("error", reject);
    sent.on("response", (answer) => {
      if (answer.statusCode === 407) {
        refuse(407);
        answer.destroy();
        return;
      }
      try {
        resolve(toResponse(answer));
      } catch (error) {
        reject(error);
      }
    });
    sent.end(init.body);
  });
}
