// Requests to issuers, and what is checked of them: tokens, codes and secrets go nowhere else.
import type {
  FetchLike,
  OAuthProtectedResourceMetadata,
  StoredOAuthClientInformation,
} from "@modelcontextprotocol/client";
import { readNpmConfiguration } from "../files/npm-configuration.ts";
import { fetchThrough, findProxy } from "../mcp/client/proxied-fetch.ts";
import { findReason } from "../mcp/client/remote-fetch.ts";
import { isLoopback } from "../mcp/http/http-options.ts";
import { failure, type SignInFault, type TrailblazeError } from "../problems/index.ts";
import { type SignInServer, type StoredSignIn, scopesOf } from "./stored.ts";

/** Less than the age at which another process takes over a lock. Milliseconds. */
const requestMs = 8000;
const maximumBytes = 1 << 20;

export const signInFailure = (label: string, reason: SignInFault, detail?: string): TrailblazeError =>
  // Much of it is what servers and issuers say.
  failure("SignInFailed", { label, reason, detail: detail?.slice(0, 400) });

/** Whether a URL leads to this machine by http. */
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
  const npm = readNpmConfiguration({ projectDirectory: undefined, env: process.env });
  const send = async (url: URL, init: RequestInit): Promise<Response> => {
    checkAddress(label, url);
    const { status, headers, body } = await fetchThrough(findProxy(url, npm, process.env), url, {
      ...init,
      body: init.body == null ? undefined : String(init.body),
      signal: AbortSignal.any([AbortSignal.timeout(requestMs), ...(signal ? [signal] : [])]),
    });
    const chunks: Uint8Array[] = [];
    let left = maximumBytes;
    // A server's stream of events may not end.
    if (headers.get("content-type")?.startsWith("text/event-stream")) await body?.cancel();
    else
      for await (const chunk of body ?? []) {
        left -= chunk.length;
        if (left < 0) throw new Error(`an answer has more than ${maximumBytes} bytes`);
        chunks.push(chunk);
      }
    const location = status >= 300 && status < 400 ? headers.get("location") : null;
    const target = location !== null && URL.canParse(location, url.href) ? new URL(location, url) : url;
    if (target.origin !== url.origin)
      throw signInFailure(label, "endpoint", `${url.origin} redirects to ${target.origin}`);
    // The SDK follows redirects itself.
    if ([307, 308].includes(status) && init.redirect !== "manual")
      return send(target, { ...init, redirect: "manual" });
    return new Response(chunks.length === 0 ? null : Buffer.concat(chunks), { status, headers });
  };
  return (address, init = {}) =>
    send(new URL(address), init).catch((cause) => {
      throw new TypeError(findReason(cause).text, { cause });
    });
}

/** Where a server's tokens are from, and the scopes to ask for. */
interface Issuer extends Pick<StoredSignIn, "issuer" | "metadata" | "resource"> {
  scope: string | undefined;
}

/**
 * Finds the issuer of a server by its answer without a token, or takes the recorded one if there is no answer, and checks it
 * before anything is sent to that: throws `SignInFailed`. `undefined` if the answer, and the server's metadata, ask for no sign-in.
 */
export async function findIssuer(
  { label, url, oauth }: SignInServer,
  stored: StoredSignIn | undefined,
  challenge: Response | undefined,
  fetchFn: FetchLike,
): Promise<Issuer | undefined> {
  const sdk = await import("@modelcontextprotocol/client");
  const fail = (reason: SignInFault, detail?: string) => signInFailure(label, reason, detail);
  // Where its answer names metadata of another origin, nothing is fetched from the server itself.
  checkAddress(label, url);
  const asked = challenge === undefined ? {} : sdk.extractWWWAuthenticateParams(challenge);
  const recorded = challenge === undefined ? stored : undefined;
  const described: OAuthProtectedResourceMetadata | undefined =
    recorded === undefined
      ? await sdk.discoverOAuthProtectedResourceMetadata(url, asked, fetchFn).catch((error: unknown) => {
          if (error instanceof TypeError) throw error;
          return undefined;
        })
      : { resource: recorded.resource, scopes_supported: scopesOf(recorded.tokens?.scope) };
  if (described === undefined && challenge !== undefined && challenge.status !== 401) return undefined;
  const address = described?.authorization_servers?.[0] ?? new URL("/", url).href;
  const metadata =
    recorded?.metadata ?? (await sdk.discoverAuthorizationServerMetadata(address, { fetchFn }));
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

/** The client of a sign-in, with the secret that the config has for it. */
export const withSecret = (
  client: StoredOAuthClientInformation,
  { clientId, clientSecret }: SignInServer["oauth"],
): StoredOAuthClientInformation =>
  clientId === client.client_id && clientSecret !== undefined
    ? { ...client, client_secret: clientSecret }
    : client;
