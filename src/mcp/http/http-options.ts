import { failure } from "../../problems/index.ts";
import { isLoopback } from "./allowed-hosts.ts";

export interface ServeHttpOptions {
  /** What messages call the server. */
  label: string;
  /** 127.0.0.1 unless given. An IPv6 address may be in brackets. */
  host?: string;
  /** 0, which is the default, for one that is free. */
  port?: number;
  /** What clients must send as `Authorization: Bearer`. Secret. */
  token?: string;
  /** Allows another host than loopback without a token. */
  noAuth?: boolean;
  /** Names (or `name:port`) that `Host` and `Origin` may give besides, as those of a reverse proxy. */
  allowedHosts?: readonly string[];
  /** A session in which nothing is under way and no stream is open ends after so long. 1800 s. */
  sessionTtlMs?: number;
  /** Further ones are refused; without a token, some may replace idle ones. 1000. */
  maxSessions?: number;
  /** Each request gets a server of its own, and no session id. */
  stateless?: boolean;
  /** 4 MiB. */
  maxBodyBytes?: number;
  /** How long what is under way may take to end when the server is closed. 2 s. */
  graceMs?: number;
  /** Limits of connections, of which users know nothing. */
  connections?: {
    headersTimeoutMs?: number;
    bodyTimeoutMs?: number;
    idleTimeoutMs?: number;
    max?: number;
    maxRequests?: number;
    /** How long an idle session is safe from being replaced by a new one. */
    replaceableAfterMs?: number;
  };
}

/** All of them, with defaults. */
export interface HttpSettings {
  label: string;
  host: string;
  port: number;
  token: string | undefined;
  allowedHosts: readonly string[];
  sessionTtlMs: number;
  maxSessions: number;
  stateless: boolean;
  maxBodyBytes: number;
  graceMs: number;
  headersTimeoutMs: number;
  bodyTimeoutMs: number;
  idleTimeoutMs: number;
  maxConnections: number;
  maxRequests: number;
  replaceableAfterMs: number;
}

/** Completes the options. Throws `InvalidArguments` for a token that no header can carry, and for one that is missing. */
export function completeOptions(options: ServeHttpOptions): HttpSettings {
  const { label, token, noAuth = false, connections = {} } = options;
  const host = (options.host ?? "127.0.0.1").replace(/^\[(.*)\]$/, "$1");
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    const reason = "The token is empty or has characters that a header cannot carry";
    throw failure("InvalidArguments", { reason, hint: "Use letters, digits and punctuation of ASCII." });
  }
  if (token === undefined && !noAuth && !isLoopback(host)) {
    throw failure("InvalidArguments", {
      reason: `Others than this machine can reach ${host === "" ? "all addresses" : host}, so a token is needed`,
      hint: "Give one with --token or in TRAILBLAZE_HTTP_TOKEN, or say --no-auth if everybody may call.",
    });
  }
  return {
    label,
    host,
    port: options.port ?? 0,
    token,
    allowedHosts: options.allowedHosts ?? [],
    sessionTtlMs: options.sessionTtlMs ?? 1_800_000,
    maxSessions: options.maxSessions ?? 1000,
    stateless: options.stateless ?? false,
    maxBodyBytes: options.maxBodyBytes ?? 4 * 1024 * 1024,
    graceMs: options.graceMs ?? 2000,
    headersTimeoutMs: connections.headersTimeoutMs ?? 10_000,
    bodyTimeoutMs: connections.bodyTimeoutMs ?? 60_000,
    // Streams send a comment every 15 s.
    idleTimeoutMs: connections.idleTimeoutMs ?? 120_000,
    maxConnections: connections.max ?? 5120,
    maxRequests: connections.maxRequests ?? 4096,
    replaceableAfterMs: connections.replaceableAfterMs ?? 60_000,
  };
}
