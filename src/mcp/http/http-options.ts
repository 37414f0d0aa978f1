import { failure, quote } from "../../problems/index.ts";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import type { ModernHttpServer, ServedProtocol } from "../protocol-server.ts";
import { isAuthority, isLoopback, readOrigin } from "./allowed-hosts.ts";

export interface ServeHttpOptions {
  /** The server's name in messages. */
  label: string;
  /** Default: 127.0.0.1. An IPv6 address may be in brackets. */
  host?: string;
  /** Default: 0, which selects a free port. */
  port?: number;
  /** The token that clients must send as `Authorization: Bearer`. Secret. */
  token?: string;
  /** Allows a host other than loopback without a token. */
  noAuth?: boolean;
  /** More names (or `name:port`) that `Host` and `Origin` may have, such as a reverse proxy's. */
  allowedHosts?: readonly string[];
  /** Origins of pages that may use the server, such as `http://localhost:6274`; CORS lets them read the answers. */
  allowedOrigins?: readonly string[] | undefined;
  /** Called with a message when a request is refused for its `Host`, once, and for its `Origin`. */
  onMisplaced?: (message: string) => void;
  /** How long a session without open requests and streams lasts. Default: 1800 s. */
  sessionTtlMs?: number;
  /** The limit of sessions. Default: 1000. */
  maxSessions?: number;
  /** Serves each request with a server of its own, without session ids. */
  stateless?: boolean;
  /** Serves modern clients; created when one speaks. Default: only legacy clients are served. */
  modern?(): Promise<ModernHttpServer>;
  /** Which clients are served if there is a server for both. Default: both. */
  protocol?: ServedProtocol;
  /** Answers probes at `/healthz`. */
  health?: boolean;
  /** Default: 4 MiB. */
  maxBodyBytes?: number;
  /** How long open requests may take when the server closes. Default: 2 s. */
  graceMs?: number;
  /** Limits of connections; not documented for users. */
  connections?: {
    headersTimeoutMs?: number;
    bodyTimeoutMs?: number;
    idleTimeoutMs?: number;
    max?: number;
  };
  /** The time that sessions go by; tests pass their own. */
  clock?: Clock;
}

/** The options with all defaults. */
export interface HttpSettings {
  label: string;
  host: string;
  port: number;
  token: string | undefined;
  allowedHosts: readonly string[];
  allowedOrigins: readonly string[];
  sessionTtlMs: number;
  maxSessions: number;
  stateless: boolean;
  protocol: ServedProtocol;
  health: boolean;
  maxBodyBytes: number;
  graceMs: number;
  headersTimeoutMs: number;
  bodyTimeoutMs: number;
  idleTimeoutMs: number;
  maxConnections: number;
  clock: Clock;
}

/** Completes the options. Throws `InvalidArguments` if the token is missing or cannot be sent in a header. */
export function completeOptions(options: ServeHttpOptions): HttpSettings {
  const { label, token, noAuth = false, connections = {} } = options;
  const host = (options.host ?? "127.0.0.1").replace(/^\[(.*)\]$/, "$1");
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    const reason = "The token is empty or has characters that HTTP headers do not allow";
    throw failure("InvalidArguments", { reason, hint: "Use ASCII letters, digits and punctuation." });
  }
  const { allowedHosts = [], allowedOrigins = [] } = options;
  const invalidHost = allowedHosts.find((name) => !isAuthority(name));
  if (invalidHost !== undefined) {
    const reason = `An allowed host must be like mcp.example.com, not ${quote(invalidHost)}`;
    throw failure("InvalidArguments", { reason, hint: "Pass a name or an address, with a port or without." });
  }
  const invalid = allowedOrigins.find((origin) => readOrigin(origin) === undefined);
  if (invalid !== undefined) {
    const reason = `An allowed origin must be like https://app.example, not ${quote(invalid)}`;
    throw failure("InvalidArguments", {
      reason,
      hint: "Pass a scheme and a host, with a port if it has one.",
    });
  }
  if (token === undefined && !noAuth && !isLoopback(host)) {
    throw failure("InvalidArguments", {
      reason: `A token is required because other machines can reach ${host === "" ? "all addresses" : host}`,
      hint: "Pass --token, set TRAILBLAZE_HTTP_TOKEN, or allow unauthenticated access with --no-auth.",
    });
  }
  return {
    label,
    host,
    port: options.port ?? 0,
    token,
    allowedHosts,
    allowedOrigins,
    sessionTtlMs: options.sessionTtlMs ?? 1_800_000,
    maxSessions: options.maxSessions ?? 1000,
    stateless: options.stateless ?? false,
    protocol: options.modern === undefined ? "legacy" : (options.protocol ?? "both"),
    health: options.health ?? false,
    maxBodyBytes: options.maxBodyBytes ?? 4 * 1024 * 1024,
    graceMs: options.graceMs ?? 2000,
    headersTimeoutMs: connections.headersTimeoutMs ?? 10_000,
    bodyTimeoutMs: connections.bodyTimeoutMs ?? 60_000,
    // Streams send a comment every 15 s.
    idleTimeoutMs: connections.idleTimeoutMs ?? 120_000,
    maxConnections: connections.max ?? 5120,
    clock: options.clock ?? systemClock,
  };
}
