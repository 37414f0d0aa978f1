// Tokens of sessions: renewed, but never authorized anew.
import type { OAuthClientProvider } from "@modelcontextprotocol/client";
import type { Authorization } from "../mcp/client/remote-fetch.ts";
import { createIssuerFetch, findIssuer, withSecret } from "./issuer.ts";
import {
  isEnding,
  readSignIn,
  type SignInServer,
  type StoredSignIn,
  secretsOf,
  type Tokens,
  toTokens,
  withSignInLock,
} from "./stored.ts";

type OnSecrets = (secrets: readonly string[]) => void;

/** Gets other tokens: for the client itself, or for a refresh token. A refused one takes the tokens away. */
async function renewSignIn(
  server: SignInServer,
  stored: StoredSignIn | undefined,
  challenge: Response | undefined,
  signal: AbortSignal | undefined,
): Promise<StoredSignIn | undefined> {
  const { label, url, oauth } = server;
  const sdk = await import("@modelcontextprotocol/client");
  const fetchFn = createIssuerFetch(label, signal);
  if (oauth.grant === "client_credentials") {
    const found = await findIssuer(server, stored, challenge, fetchFn);
    if (found === undefined) return undefined;
    const { scope, ...lasting } = found;
    const { issuer } = lasting;
    const { clientId = "", clientSecret = "" } = oauth;
    const provider = new sdk.ClientCredentialsProvider({ clientId, clientSecret, expectedIssuer: issuer });
    const tokens = toTokens(await sdk.fetchToken(provider, issuer, { ...found, fetchFn }), scope);
    return { url: url.href, ...lasting, client: { client_id: clientId, issuer }, tokens };
  }
  const { refresh_token: refreshToken, scope } = stored?.tokens ?? {};
  if (stored === undefined || refreshToken === undefined) return undefined;
  const { issuer, metadata, client, resource } = stored;
  try {
    const request = {
      metadata,
      clientInformation: withSecret(client, oauth),
      refreshToken,
      resource,
      fetchFn,
    };
    return { ...stored, tokens: toTokens(await sdk.refreshAuthorization(issuer, request), scope) };
  } catch (error) {
    // Other errors say that the issuer cannot answer now.
    const isRefused =
      error instanceof sdk.OAuthError && /^(invalid|unauthorized|unsupported)_/.test(error.code);
    if (isRefused) return { ...stored, tokens: undefined };
    throw error;
  }
}

/** The tokens of one server, as `trailblaze login` or another process has kept them. Each use reads them again. */
export function useStoredTokens(server: SignInServer, onSecrets: OnSecrets, signal?: AbortSignal) {
  const isOwnGrant = server.oauth.grant === "client_credentials";
  const note = (record: StoredSignIn | undefined) => {
    if (record !== undefined) onSecrets(secretsOf(record));
    return record?.tokens;
  };
  const read = () => note(readSignIn(server));
  const renew = async (refused?: string, challenge?: Response): Promise<Tokens | undefined> => {
    if (!isOwnGrant && read()?.refresh_token === undefined) return undefined;
    const replace = async (write: (record: StoredSignIn) => void) => {
      const stored = readSignIn(server);
      const tokens = note(stored);
      // Another process may have been here.
      if (tokens && (refused === undefined ? !isEnding(tokens) : tokens.access_token !== refused))
        return stored;
      // A full disk is noticed before a token is redeemed, which may be possible only once.
      if (stored) write(stored);
      const record = await renewSignIn(server, stored, challenge, signal);
      if (record !== undefined) write(record);
      return record;
    };
    return note(await withSignInLock(server.url, replace, signal));
  };
  return {
    async tokens() {
      const tokens = read();
      if (tokens === undefined ? !isOwnGrant : !isEnding(tokens)) return tokens;
      // Without another one, it is for the server to refuse the old.
      return (await renew().catch(() => undefined)) ?? tokens;
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
  const read = async () => {
    const tokens = await provider.tokens();
    if (tokens !== undefined) onSecrets(secretsOf({ tokens: toTokens(tokens) }));
    return tokens;
  };
  return {
    tokens: read,
    async renew(_, challenge) {
      const { auth, extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
      const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(challenge);
      await auth(provider, { serverUrl: url, resourceMetadataUrl, scope, fetchFn: createIssuerFetch(label) });
      return read();
    },
  };
}
