// Tokens of sessions: renewed, but never authorized anew.
import type { OAuthClientProvider } from "@modelcontextprotocol/client";
import type { Authorization } from "../mcp/client/remote-server.ts";
import { createIssuerFetch, findIssuer } from "./issuer.ts";
import {
  isEnding,
  readSignIn,
  type SignInServer,
  type StoredSignIn,
  type Tokens,
  toTokens,
  withSignInLock,
} from "./stored.ts";

/** Is called with what must not be shown. */
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
    const recorded = stored && { ...stored, scope: oauth.scopes?.join(" ") || stored.tokens?.scope };
    const found =
      challenge === undefined && recorded ? recorded : await findIssuer(server, stored, challenge, fetchFn);
    if (found === undefined) return undefined;
    const { issuer, metadata, resource, scope } = found;
    const { clientId = "", clientSecret = "" } = oauth;
    const provider = new sdk.ClientCredentialsProvider({ clientId, clientSecret, expectedIssuer: issuer });
    const answer = await sdk.fetchToken(provider, issuer, { metadata, resource, scope, fetchFn });
    const client = { client_id: clientId, issuer };
    return { url: url.href, issuer, metadata, resource, client, tokens: toTokens(answer, scope) };
  }
  const { refresh_token: refreshToken, scope } = stored?.tokens ?? {};
  if (stored === undefined || refreshToken === undefined) return undefined;
  const { issuer, metadata, resource, client } = stored;
  // The secret of another client is not for this issuer.
  const secret = oauth.clientId === client.client_id ? oauth.clientSecret : undefined;
  const clientInformation = secret === undefined ? client : { ...client, client_secret: secret };
  try {
    const request = { metadata, clientInformation, refreshToken, resource, fetchFn };
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
    const { client, tokens } = record ?? {};
    const secrets = [client?.client_secret, tokens?.access_token, tokens?.refresh_token];
    onSecrets(secrets.filter((secret) => secret !== undefined));
    return tokens;
  };
  const renew = async (refused?: string, challenge?: Response): Promise<Tokens | undefined> => {
    if (!isOwnGrant && readSignIn(server)?.tokens?.refresh_token === undefined) return undefined;
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
      const tokens = note(readSignIn(server));
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
    if (tokens !== undefined) onSecrets([tokens.access_token, tokens.refresh_token ?? ""]);
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
