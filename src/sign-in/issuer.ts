// Requests to issuers, and what is checked of them: tokens, codes and secrets go nowhere else.
import type { FetchLike, OAuthServerInfo, StoredOAuthClientInformation } from "@modelcontextprotocol/client";
import { readNpmConfiguration } from "../files/npm-configuration.ts";
import { fetchThrough, findProxy } from "../mcp/client/proxied-fetch.ts";
import { findReason } from "../mcp/client/remote-fetch.ts";
import { isLoopback } from "../mcp/http/http-options.ts";
import { failure, type SignInFault, type TrailblazeError } from "../problems/index.ts";
import type { OAuthSettings } from "../runtime/server-launches.ts";
import type { SignInServer, StoredSignIn } from "./stored.ts";

/** Less than the age at which another process takes over a lock. Milliseconds. */
const requestMs = 8000;
const maximumBytes = 1 << 20;

export const signInFailure = (label: string, reason: SignInFault, detail?: string): TrailblazeError =>
  failure("SignInFailed", { label, reason, ...(detail !== undefined && { detail }) });

/** Whether a URL leads to this machine by http. */
export const isLocal = ({ protocol, hostname }: URL): boolean =>
  protocol === "http:" && isLoopback(hostname.replace(/^\[(.*)\]$/, "$1"));

/** Throws `SignInFailed` for an address to which nothing secret may go. */
export function checkAddress(label: string, what: string, address: string): void {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || (url.protocol !== "https:" && !isLocal(url)))
    throw signInFailure(label, "endpoint", `${what} is neither https nor on this machine`);
}

/**
 * `fetch` for one sign-in: with a limit of time and size, and without redirects to other origins. Rejects with a `TypeError`
 * that has the cause: the SDK takes other errors for missing metadata.
 */
export function createIssuerFetch(label: string, signal?: AbortSignal): FetchLike {
  const npm = readNpmConfiguration({ projectDirectory: undefined, env: process.env });
  const send = async (url: URL, init: RequestInit): Promise<Response> => {
    checkAddress(label, url.origin, url.href);
    const response = await fetchThrough(findProxy(url, npm, process.env), url, {
      ...init,
      body: init.body == null ? undefined : String(init.body),
      signal: AbortSignal.any([AbortSignal.timeout(requestMs), ...(signal ? [signal] : [])]),
    });
    const { status, headers } = response;
    const location = status >= 300 && status < 400 ? headers.get("location") : null;
    const target = location !== null && URL.canParse(location, url.href) ? new URL(location, url) : url;
    const chunks: Uint8Array[] = [];
    let size = 0;
    // A server's stream of events may not end.
    const isRead = target === url && headers.get("content-type")?.startsWith("text/event-stream") !== true;
    if (!isRead) await response.body?.cancel();
    else
      for await (const chunk of response.body ?? []) {
        size += chunk.length;
        if (size > maximumBytes) throw new Error(`an answer has more than ${maximumBytes} bytes`);
        chunks.push(chunk);
      }
    if (target.origin !== url.origin)
      throw signInFailure(label, "endpoint", `${url.origin} redirects to ${target.origin}`);
    // The SDK follows redirects itself.
    if (target !== url && [307, 308].includes(status) && init.redirect !== "manual")
      return send(target, { ...init, redirect: "manual" });
    return new Response(size === 0 ? null : Buffer.concat(chunks), { status, headers });
  };
  return async (address, init = {}) => {
    try {
      return await send(new URL(address), init);
    } catch (cause) {
      throw new TypeError(findReason(cause).text, { cause });
    }
  };
}

/** Checks what was found of a server and its issuer before anything is sent to that. Throws `SignInFailed`. */
export async function checkIssuer(
  { label, url, oauth }: SignInServer,
  { authorizationServerMetadata: metadata, resourceMetadata }: OAuthServerInfo,
  stored: StoredSignIn | undefined,
): Promise<Pick<StoredSignIn, "issuer" | "metadata" | "resource">> {
  const { checkResourceAllowed } = await import("@modelcontextprotocol/client");
  const fail = (reason: SignInFault, detail?: string) => signInFailure(label, reason, detail);
  const isOwnGrant = oauth.grant === "client_credentials";
  if (metadata === undefined) throw fail("pkce", "it has no metadata");
  const { issuer, token_endpoint, authorization_endpoint, registration_endpoint } = metadata;
  // A secret goes to no other issuer than before.
  const expected = oauth.issuer ?? (oauth.clientSecret === undefined ? issuer : (stored?.issuer ?? issuer));
  if (issuer !== expected) throw fail("issuer", `it is ${issuer} instead of ${expected}`);
  checkAddress(label, "the issuer", issuer);
  checkAddress(label, "its token endpoint", token_endpoint);
  if (!isOwnGrant) checkAddress(label, "its authorization endpoint", authorization_endpoint);
  if (registration_endpoint !== undefined)
    checkAddress(label, "its registration endpoint", registration_endpoint);
  if (!isOwnGrant && metadata.code_challenge_methods_supported?.includes("S256") !== true) throw fail("pkce");
  // As it is written, because issuers compare the text.
  const resource = resourceMetadata?.resource ?? url.href;
  const isAllowed =
    URL.canParse(resource) && checkResourceAllowed({ requestedResource: url, configuredResource: resource });
  if (!isAllowed) throw fail("resource", resource);
  return { issuer, metadata, resource };
}

/** The scopes to ask for: those of the first list that has some. */
export const chooseScope = (...lists: (readonly string[] | undefined)[]): string | undefined =>
  lists.find((scopes) => scopes !== undefined && scopes.length > 0)?.join(" ");

/** A client with the secret that the config has for it. */
export const withSecret = (
  client: StoredOAuthClientInformation,
  { clientId, clientSecret }: OAuthSettings,
): StoredOAuthClientInformation =>
  clientId === client.client_id && clientSecret !== undefined
    ? { ...client, client_secret: clientSecret }
    : client;
