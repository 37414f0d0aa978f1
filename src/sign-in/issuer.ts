// Requests to issuers, and what is checked of them: tokens, codes and secrets go nowhere else.
import type { FetchLike } from "@modelcontextprotocol/client";
import { readNpmConfiguration } from "../files/npm-configuration.ts";
import { fetchThrough, findProxy, findReason, readStart } from "../mcp/client/proxied-fetch.ts";
import { isLoopback } from "../mcp/http/http-options.ts";
import { failure, type SignInFault, type TrailblazeError } from "../problems/index.ts";
import { type Issuer, type SignInServer, type StoredSignIn, scopesOf } from "./stored.ts";

/** Less than the age at which another process takes over a lock. Milliseconds. */
const requestMs = 8000;
const maximumBytes = 1 << 20;

export const signInFailure = (label: string, reason: SignInFault, detail?: string): TrailblazeError =>
  // Much of it is what servers and issuers say.
  failure("SignInFailed", { label, reason, detail: detail?.slice(0, 400) });

export const isLocal = ({ protocol, hostname }: URL): boolean =>
  protocol === "http:" && isLoopback(hostname.replace(/^\[(.*)\]$/, "$1"));

/** Throws `SignInFailed` for an address to which nothing secret may go. */
function checkAddress(label: string, url: URL): void {
  if (url.protocol !== "https:" && !isLocal(url))
    throw signInFailure(label, "endpoint", `${url.origin} is neither https nor on this machine`);
}

/**
 * `fetch` for one sign-in: with a limit of time and size, and without redirects to other origins. Rejects with a `TypeError`
 * that has the cause: the SDK takes other errors for missing metadata.
 */
export function createIssuerFetch(label: string, signal?: AbortSignal): FetchLike {
  const npm = readNpmConfiguration({ env: process.env });
  const send = async (url: URL, init: RequestInit): Promise<Response> => {
    checkAddress(label, url);
    const answer = await fetchThrough(findProxy(url, npm, process.env), url, {
      ...init,
      body: init.body == null ? undefined : String(init.body),
      signal: AbortSignal.any([AbortSignal.timeout(requestMs), ...(signal ? [signal] : [])]),
    });
    const { status, headers } = answer;
    // A server's stream of events may not end.
    if (headers.get("content-type")?.startsWith("text/event-stream")) await answer.body?.cancel();
    const bytes = await readStart(answer, maximumBytes, requestMs, true);
    const location = status >= 300 && status < 400 ? headers.get("location") : null;
    const target = location !== null && URL.canParse(location, url.href) ? new URL(location, url) : url;
    if (target.origin !== url.origin)
      throw signInFailure(label, "endpoint", `${url.origin} redirects to ${target.origin}`);
    // The SDK follows redirects itself.
    if ([307, 308].includes(status) && init.redirect !== "manual")
      return send(target, { ...init, redirect: "manual" });
    return new Response(bytes.length === 0 ? null : bytes, { status, headers });
  };
  return (address, init = {}) =>
    send(new URL(address), init).catch((cause) => {
      throw new TypeError(findReason(cause).text, { cause });
    });
}

/**
 * Finds the issuer of a server by its answer without a token, and checks it before anything is sent to that: throws
 * `SignInFailed`. `scope` is what to ask for. `undefined` if the answer, and the server's metadata, ask for no sign-in.
 */
export async function findIssuer(
  { label, url, oauth }: SignInServer,
  stored: StoredSignIn | undefined,
  challenge: Response | undefined,
  fetchFn: FetchLike,
): Promise<(Issuer & { scope: string | undefined }) | undefined> {
  const sdk = await import("@modelcontextprotocol/client");
  const fail = (reason: SignInFault, detail?: string) => signInFailure(label, reason, detail);
  // Where its answer names metadata of another origin, nothing is fetched from the server itself.
  checkAddress(label, url);
  const asked = challenge === undefined ? {} : sdk.extractWWWAuthenticateParams(challenge);
  const described = await sdk.discoverOAuthProtectedResourceMetadata(url, asked, fetchFn).catch((error) => {
    if (error instanceof TypeError) throw error;
    return undefined;
  });
  if (described === undefined && challenge !== undefined && challenge.status !== 401) return undefined;
  const address = described?.authorization_servers?.[0] ?? new URL("/", url).href;
  const metadata = await sdk.discoverAuthorizationServerMetadata(address, { fetchFn });
  if (metadata === undefined) throw fail("pkce", "it has no metadata");
  const { issuer, token_endpoint, authorization_endpoint, registration_endpoint = issuer } = metadata;
  // A secret goes to no other issuer than before.
  const expected = oauth.issuer ?? (oauth.clientSecret === undefined ? issuer : (stored?.issuer ?? issuer));
  if (issuer !== expected) throw fail("issuer", `it is ${issuer} instead of ${expected}`);
  for (const endpoint of [issuer, token_endpoint, authorization_endpoint, registration_endpoint])
    checkAddress(label, new URL(endpoint));
  const isForUsers = oauth.grant !== "client_credentials";
  if (isForUsers && metadata.code_challenge_methods_supported?.includes("S256") !== true) throw fail("pkce");
  // As it is written, because issuers compare the text.
  const resource = described?.resource ?? url.href;
  const allowed = { requestedResource: url, configuredResource: resource };
  if (!URL.canParse(resource) || !sdk.checkResourceAllowed(allowed)) throw fail("resource", resource);
  const scopes = [oauth.scopes, scopesOf(asked.scope), described?.scopes_supported];
  return { issuer, metadata, resource, scope: scopes.find((some) => some?.length)?.join(" ") };
}
