import { isRecord } from "../../data/parse-json.ts";
import { failure, quote } from "../../problems/index.ts";

/** How a server is offered over HTTP. */
export interface HttpTransport {
  /** Default: 127.0.0.1. A host that is not loopback requires a `token` or `noAuth`. */
  host?: string;
  /** Default: a free port. */
  port?: number;
  /** The token that clients must send as `Authorization: Bearer`. */
  token?: string;
  /** Allows unauthenticated access on a host that is not loopback. */
  noAuth?: boolean;
  /** More names (or `name:port`) that clients may use for the server, such as those of a proxy. */
  allowedHosts?: readonly string[];
  /** Origins of pages that may use the server in a browser, such as `http://localhost:6274`. */
  allowedOrigins?: readonly string[] | undefined;
  /** Seconds without a request after which a session ends. Default: 1800. */
  sessionTtl?: number;
  /** Default: 1000. */
  maxSessions?: number;
  /** Serves each request without a session. */
  stateless?: boolean;
  /** Answers `GET /healthz` without a token: 200, and 503 while the server ends. */
  health?: boolean;
}

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
/** An IP address. DNS rebinding needs a name, so addresses are safe. */
const address = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/;
const origin = /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@\\*]+\/?$/i;
const authority = /^([a-z0-9._~-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/;

/** A host as URLs write it: IPv6 in brackets, its zone escaped. */
export const hostInUrl = (host: string): string =>
  host.includes(":") ? `[${host.replace("%", "%25")}]` : host;

export const isLoopback = (host: string): boolean => loopback.test(hostInUrl(host.toLowerCase()));

/** The host to listen on, IPv6 without brackets. */
export const hostOf = ({ host = "127.0.0.1" }: HttpTransport): string => host.replace(/^\[(.*)\]$/, "$1");

/** Throws `InvalidArguments` for what is no object, a limit of nothing, a token that is missing or cannot be sent, or an invalid name. */
export function checkHttpTransport(transport: HttpTransport): void {
  const check = (isValid: boolean, reason: string, hint?: string) => {
    if (!isValid) throw failure("InvalidArguments", { reason, hint });
  };
  check(isRecord(transport), 'The transport must be "stdio" or an object with host and port');
  const { token, allowedHosts = [], allowedOrigins = [], sessionTtl = 1, maxSessions = 1 } = transport;
  for (const [name, value] of Object.entries({ sessionTtl, maxSessions }))
    check(value > 0, `\`${name}\` must be a positive number, but it is ${String(value)}`);
  check(
    token === undefined || /^[\x21-\x7e]+$/.test(token),
    "The token is empty or has characters that HTTP headers do not allow",
    "Use ASCII letters, digits and punctuation.",
  );
  for (const name of allowedHosts)
    check(
      authority.test(name.toLowerCase()),
      `An allowed host must be like mcp.example.com, not ${quote(name)}`,
    );
  for (const text of allowedOrigins)
    check(origin.test(text), `An allowed origin must be like https://app.example, not ${quote(text)}`);
  const host = hostOf(transport);
  check(
    token !== undefined || transport.noAuth === true || isLoopback(host),
    `A token is required because other machines can reach ${host === "" ? "all addresses" : host}`,
    "Pass --token, set TRAILBLAZE_HTTP_TOKEN, or allow unauthenticated access with --no-auth.",
  );
}

/**
 * Guards against DNS rebinding: a page whose host name resolves to this server sends its own name. On loopback, only
 * loopback names with our port pass. A server on all addresses cannot know its own names or its public port: any
 * address passes, and localhost, and the allowed hosts. The returned function gets the value of `Host`, or the host of an
 * `Origin`, with the port that applies if it has none.
 */
export function createHostCheck(bound: string, allowedHosts: readonly string[]) {
  const own = hostInUrl(bound.toLowerCase());
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()));
  const isOpen = /^(?:0\.0\.0\.0|::|::0|0:0:0:0:0:0:0:0|)$/.test(bound);
  return (value: string, port: number, defaultPort: number): boolean => {
    const [whole, host = "", written] = authority.exec(value.toLowerCase()) ?? [];
    if (whole === undefined) return false;
    if (allowed.has(host) || allowed.has(whole)) return true;
    if (isOpen) return address.test(host) || host === "localhost";
    return Number(written ?? defaultPort) === port && (loopback.test(host) || host === own);
  };
}
