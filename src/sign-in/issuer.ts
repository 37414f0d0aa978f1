// Requests to issuers, and what is checked of them: tokens, codes and secrets go nowhere else.
import type { AuthorizationServerMetadata, StoredOAuthClientInformation } from "@modelcontextprotocol/client";
import { readNpmConfiguration } from "../files/npm-configuration.ts";
import { fetchThrough, findProxy } from "../mcp/client/proxied-fetch.ts";
import { isLoopback } from "../mcp/http/http-options.ts";
import { failure, type SignInFault, type TrailblazeError } from "../problems/index.ts";
import type { OAuthSettings } from "../runtime/server-launches.ts";
import type { StoredSignIn } from "./stored.ts";

/** A server to sign in to. */
export interface SignInServer {
  label: string;
  url: URL;
  oauth: OAuthSettings;
}

/** Less than the age at which another process takes over a lock. Milliseconds. */
const requestMs = 8000;
const maximumBytes = 1 << 20;

export const signInFailure = (label: string, reason: SignInFault, detail?: string): TrailblazeError =>
  failure("SignInFailed", { label, reason, ...(detail !== undefined && { detail }) });

/** Whether a URL leads to this machine by http. */
export const isLocal = ({ protocol, hostname }: URL): boolean =>
  protocol === "http:" && isLoopback(hostname.replace(/^\[(.*)\]$/, "$1"));

const isSafe = (url: URL): boolean => url.protocol === "https:" || isLocal(url);

/** Throws `SignInFailed` for an address to which nothing secret may go. */
export function checkAddress(label: string, what: string, address: string | undefined): void {
  if (address === undefined || (URL.canParse(address) && isSafe(new URL(address)))) return;
  throw signInFailure(label, "endpoint", `${what} is neither https nor on this machine`);
}

/** The requests of one sign-in: with a limit of time and size, and without redirects to other origins. */
export class IssuerFetch {
  /** The first failure. The SDK takes it for missing metadata. */
  fault: unknown;
  readonly #label: string;
  readonly #signal: AbortSignal | undefined;
  readonly #npm = readNpmConfiguration({ projectDirectory: undefined, env: process.env });

  constructor(label: string, signal?: AbortSignal) {
    this.#label = label;
    this.#signal = signal;
  }

  readonly fetch = (address: string | URL, init: RequestInit = {}): Promise<Response> =>
    this.#note(async () => {
      const response = await this.#send(new URL(address), init);
      const { status, headers } = response;
      const chunks: Uint8Array[] = [];
      let size = 0;
      for await (const chunk of response.body ?? []) {
        size += chunk.length;
        if (size > maximumBytes) throw new Error(`an answer has more than ${maximumBytes} bytes`);
        chunks.push(chunk);
      }
      // It has refused nothing.
      if (init.method === "POST" && (status >= 500 || status === 429))
        throw new Error(`it answered with HTTP status ${status}`);
      return new Response(size === 0 ? null : Buffer.concat(chunks), { status, headers });
    });

  /** The status and the headers of an answer. */
  readonly ask = (url: URL, init: RequestInit): Promise<Response> =>
    this.#note(async () => {
      const { status, headers, body } = await this.#send(url, init);
      await body?.cancel();
      return new Response(null, { status, headers });
    });

  async #note<Result>(request: () => Promise<Result>): Promise<Result> {
    try {
      return await request();
    } catch (error) {
      this.fault ??= error;
      throw error;
    }
  }

  async #send(url: URL, init: RequestInit): Promise<Response> {
    checkAddress(this.#label, url.origin, url.href);
    const signal = AbortSignal.any([AbortSignal.timeout(requestMs), ...(this.#signal ? [this.#signal] : [])]);
    const body = init.body === undefined ? undefined : String(init.body);
    const request: RequestInit = { ...init, body, signal, redirect: "manual" };
    const proxy = findProxy(url, this.#npm, process.env);
    const response = await (proxy === undefined ? fetch(url, request) : fetchThrough(proxy, url, request));
    const location = response.headers.get("location");
    const target = location && URL.canParse(location, url.href) ? new URL(location, url) : url;
    if (target.origin === url.origin) return response;
    await response.body?.cancel();
    throw signInFailure(this.#label, "endpoint", `${url.origin} redirects to ${target.origin}`);
  }
}

/** Checks what was found of an issuer before anything is sent to it. Throws `SignInFailed`. */
export function checkIssuer(
  { label, oauth }: SignInServer,
  metadata: AuthorizationServerMetadata | undefined,
  stored: StoredSignIn | undefined,
): AuthorizationServerMetadata {
  const fail = (reason: SignInFault, detail?: string) => signInFailure(label, reason, detail);
  const isOwnGrant = oauth.grant === "client_credentials";
  if (metadata === undefined) throw fail("pkce", "it has no metadata");
  const { issuer } = metadata;
  const expected = oauth.issuer ?? (oauth.clientSecret === undefined ? issuer : (stored?.issuer ?? issuer));
  if (issuer !== expected) throw fail("issuer", `it is ${issuer} instead of ${expected}`);
  checkAddress(label, "the issuer", issuer);
  checkAddress(label, "its token endpoint", metadata.token_endpoint);
  checkAddress(label, "its authorization endpoint", isOwnGrant ? undefined : metadata.authorization_endpoint);
  checkAddress(label, "its registration endpoint", metadata.registration_endpoint);
  if (!isOwnGrant && metadata.code_challenge_methods_supported?.includes("S256") !== true) throw fail("pkce");
  return metadata;
}

/** The resource that tokens of a server are for, as its metadata writes it: issuers compare the text. */
export async function chooseResource(label: string, server: URL, written: string | undefined): Promise<URL> {
  if (written === undefined) return server;
  const { checkResourceAllowed } = await import("@modelcontextprotocol/client");
  const isOwn =
    URL.canParse(written) && checkResourceAllowed({ requestedResource: server, configuredResource: written });
  if (!isOwn) throw signInFailure(label, "resource", written);
  return Object.defineProperty(new URL(written), "href", { value: written });
}

/** A client with the secret that the config has for it. */
export const withSecret = (
  client: StoredOAuthClientInformation,
  { clientId, clientSecret }: OAuthSettings,
): StoredOAuthClientInformation =>
  clientId === client.client_id && clientSecret !== undefined
    ? { ...client, client_secret: clientSecret }
    : client;
