// Tokens of sessions: renewed, but never authorized anew.
import type { OAuthClientProvider, OAuthServerInfo } from "@modelcontextprotocol/client";
import type { Authorization } from "../mcp/client/remote-fetch.ts";
import { checkAddress, checkIssuer, chooseScope, createIssuerFetch, withSecret } from "./issuer.ts";
import {
  isEnding,
  readSignIn,
  type SignInServer,
  type StoredSignIn,
  scopesOf,
  secretsOf,
  toTokens,
  withSignInLock,
} from "./stored.ts";

type OnSecrets = (secrets: readonly string[]) => void;

/** A token for the client itself, from the issuer that is recorded, or else from the one that the server names. */
async function grantToClient(
  server: SignInServer,
  stored: StoredSignIn | undefined,
  { scopes, challenge, signal }: { scopes?: readonly string[]; challenge?: Response; signal?: AbortSignal },
): Promise<StoredSignIn> {
  const { label, url, oauth } = server;
  const { clientId = "", clientSecret = "" } = oauth;
  const sdk = await import("@modelcontextprotocol/client");
  checkAddress(label, "its URL", url.href);
  const fetchFn = createIssuerFetch(label, signal);
  const asked = challenge === undefined ? {} : sdk.extractWWWAuthenticateParams(challenge);
  const { resourceMetadataUrl } = asked;
  const discovered: OAuthServerInfo =
    stored === undefined
      ? await sdk.discoverOAuthServerInfo(url, {
          fetchFn,
          ...(resourceMetadataUrl && { resourceMetadataUrl }),
        })
      : {
          authorizationServerUrl: stored.issuer,
          authorizationServerMetadata: stored.metadata,
          resourceMetadata: {
            resource: stored.resource,
            scopes_supported: scopesOf(stored.tokens?.scope),
          },
        };
  const found = await checkIssuer(server, discovered, stored);
  const supported = discovered.resourceMetadata?.scopes_supported;
  const scope = chooseScope(scopes, oauth.scopes, scopesOf(asked.scope), supported);
  const { issuer } = found;
  const provider = new sdk.ClientCredentialsProvider({ clientId, clientSecret, expectedIssuer: issuer });
  const tokens = await sdk.fetchToken(provider, issuer, { ...found, scope, fetchFn });
  return {
    ...{ url: url.href, ...found },
    client: { client_id: clientId, issuer },
    tokens: toTokens(tokens, scope),
  };
}

/** Fetches and keeps a token for the client itself, whatever it has. */
export const fetchOwnToken = (
  server: SignInServer,
  scopes: readonly string[],
  signal: AbortSignal,
): Promise<StoredSignIn> =>
  withSignInLock(
    server.url,
    async (write) => {
      const record = await grantToClient(server, readSignIn(server), { scopes, signal });
      write(record);
      return record;
    },
    signal,
  );

/** A sign-in with other tokens. A refused refresh takes them away. */
async function refresh(
  { label, oauth }: SignInServer,
  stored: StoredSignIn | undefined,
): Promise<StoredSignIn | undefined> {
  const { refresh_token: refreshToken, scope } = stored?.tokens ?? {};
  if (stored === undefined || refreshToken === undefined) return undefined;
  const { issuer, metadata, client, resource } = stored;
  const { refreshAuthorization, OAuthError } = await import("@modelcontextprotocol/client");
  const clientInformation = withSecret(client, oauth);
  const fetchFn = createIssuerFetch(label);
  try {
    const request = { metadata, clientInformation, refreshToken, resource, fetchFn };
    return { ...stored, tokens: toTokens(await refreshAuthorization(issuer, request), scope) };
  } catch (error) {
    // Other errors say that the issuer cannot answer now.
    const isRefused = error instanceof OAuthError && /^(invalid|unauthorized|unsupported)_/.test(error.code);
    if (isRefused) return { ...stored, tokens: undefined };
    throw error;
  }
}

/** The tokens of one server, as `trailblaze login` or another process has kept them. Each use reads them again. */
export function useStoredTokens(server: SignInServer, onSecrets: OnSecrets): Authorization {
  const isOwnGrant = server.oauth.grant === "client_credentials";
  const note = (record: StoredSignIn | undefined) => {
    if (record !== undefined) onSecrets(secretsOf(record));
    return record;
  };
  const read = () => note(readSignIn(server));
  const renew = async (refused?: string, challenge?: Response): Promise<string | undefined> => {
    if (!isOwnGrant && read()?.tokens?.refresh_token === undefined) return undefined;
    return withSignInLock(server.url, async (write) => {
      const stored = read();
      const { tokens } = stored ?? {};
      // Another process may have been here.
      if (tokens && (refused === undefined ? !isEnding(tokens) : tokens.access_token !== refused))
        return tokens.access_token;
      // A full disk is noticed before a token is redeemed, which may be possible only once.
      if (stored) write(stored);
      const record = isOwnGrant
        ? await grantToClient(server, stored, { ...(challenge && { challenge }) })
        : await refresh(server, stored);
      if (record === undefined) return undefined;
      note(record);
      write(record);
      return record.tokens?.access_token;
    });
  };
  return {
    get scopes() {
      return scopesOf(read()?.tokens?.scope);
    },
    async token() {
      const tokens = read()?.tokens;
      if (tokens === undefined ? !isOwnGrant : !isEnding(tokens)) return tokens?.access_token;
      // Without another one, it is for the server to refuse the old.
      return (await renew().catch(() => undefined)) ?? tokens?.access_token;
    },
    renew,
  };
}

/**
 * An `OAuthClientProvider` of `@modelcontextprotocol/client`, of the host's own version: these are the methods by which it is
 * known.
 */
export interface HostAuthProvider {
  tokens(): unknown;
  clientInformation(): unknown;
}

/** The tokens of a host's own provider, which authorizes anew in its own way. */
export function useHostTokens(
  { label, url }: SignInServer,
  given: HostAuthProvider,
  onSecrets: OnSecrets,
): Authorization {
  const provider = given as OAuthClientProvider;
  let scopes: readonly string[] = [];
  const token = async () => {
    const tokens = await provider.tokens();
    scopes = scopesOf(tokens?.scope);
    if (tokens !== undefined) onSecrets(secretsOf({ tokens: toTokens(tokens) }));
    return tokens?.access_token;
  };
  return {
    get scopes() {
      return scopes;
    },
    token,
    async renew(_, challenge) {
      const { auth, extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
      const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(challenge);
      await auth(provider, { serverUrl: url, resourceMetadataUrl, scope, fetchFn: createIssuerFetch(label) });
      return token();
    },
  };
}
