// Tokens of sessions: renewed, but never authorized anew.
import type { OAuthClientProvider } from "@modelcontextprotocol/client";
import type { Authorization } from "../mcp/client/remote-fetch.ts";
import {
  checkAddress,
  checkIssuer,
  chooseResource,
  IssuerFetch,
  type SignInServer,
  withSecret,
} from "./issuer.ts";
import {
  isEnding,
  readSignIn,
  type StoredSignIn,
  scopesOf,
  secretsOf,
  toTokens,
  withSignInLock,
} from "./stored.ts";

/** What an error says, for the reason of a request without a token. */
const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A token for the client itself, from the issuer that is recorded, or else from the one that the server names. */
async function grantToClient(
  server: SignInServer,
  stored: StoredSignIn | undefined,
  scopes: readonly string[],
  signal?: AbortSignal,
): Promise<StoredSignIn> {
  const { label, url, oauth } = server;
  const { clientId = "", clientSecret = "" } = oauth;
  const sdk = await import("@modelcontextprotocol/client");
  const { fetch: fetchFn } = new IssuerFetch(label, signal);
  checkAddress(label, "its URL", url.href);
  const found = stored ?? (await sdk.discoverOAuthServerInfo(url, { fetchFn }));
  const isFound = "authorizationServerUrl" in found;
  const metadata = checkIssuer(server, isFound ? found.authorizationServerMetadata : found.metadata, stored);
  const written = isFound ? found.resourceMetadata?.resource : found.resource;
  const resource = (await chooseResource(label, url, written)).href;
  const supported = isFound ? found.resourceMetadata?.scopes_supported : undefined;
  const scope = [scopes, oauth.scopes ?? [], supported ?? []].find(({ length }) => length > 0)?.join(" ");
  const { issuer } = metadata;
  const provider = new sdk.ClientCredentialsProvider({ clientId, clientSecret, expectedIssuer: issuer });
  const tokens = await sdk.fetchToken(provider, issuer, { metadata, resource, scope, fetchFn });
  const granted = tokens.scope ?? scope ?? stored?.tokens?.scope;
  const client = { client_id: clientId, issuer };
  return {
    url: url.href,
    issuer,
    metadata,
    resource,
    client,
    tokens: toTokens({ ...tokens, scope: granted }),
  };
}

/** Fetches and keeps a token for the client itself, whatever it has. */
export const fetchOwnToken = (
  server: SignInServer,
  scopes: readonly string[],
  signal?: AbortSignal,
): Promise<StoredSignIn> =>
  withSignInLock(
    server.url,
    async (write) => {
      const record = await grantToClient(server, readSignIn(server.url), scopes, signal);
      write(record);
      return record;
    },
    signal,
  );

/** The tokens of one server, as `trailblaze login` or another process has kept them. Each use reads them again. */
export class StoredAuthorization implements Authorization {
  readonly #server: SignInServer;
  readonly #onSecrets: (secrets: readonly string[]) => void;

  constructor(server: SignInServer, onSecrets: (secrets: readonly string[]) => void) {
    this.#server = server;
    this.#onSecrets = onSecrets;
  }

  #read(): StoredSignIn | undefined {
    const stored = readSignIn(this.#server.url);
    if (stored !== undefined) this.#onSecrets(secretsOf(stored));
    return stored;
  }

  get #isOwnGrant(): boolean {
    return this.#server.oauth.grant === "client_credentials";
  }

  get scopes(): readonly string[] {
    return scopesOf(this.#read()?.tokens?.scope);
  }

  async token(): Promise<string | undefined> {
    const tokens = this.#read()?.tokens;
    const isWanted = tokens === undefined ? this.#isOwnGrant : isEnding(tokens);
    // Without another one, it is for the server to refuse the old.
    return isWanted
      ? ((await this.renew(undefined, undefined)).token ?? tokens?.access_token)
      : tokens?.access_token;
  }

  async renew(refused: string | undefined, response: Response | undefined) {
    try {
      const { url } = this.#server;
      return { token: await withSignInLock(url, (write) => this.#renew(refused, response, write)) };
    } catch (error) {
      return { token: undefined, fault: textOf(error) };
    }
  }

  async #renew(
    refused: string | undefined,
    response: Response | undefined,
    write: (record: StoredSignIn) => void,
  ): Promise<string | undefined> {
    const stored = this.#read();
    const tokens = stored?.tokens;
    // Another process may have been here.
    if (tokens !== undefined && (refused === undefined ? !isEnding(tokens) : tokens.access_token !== refused))
      return tokens.access_token;
    const record = this.#isOwnGrant
      ? await this.#grant(stored, response)
      : await this.#refresh(stored, write);
    if (record === undefined) return undefined;
    this.#onSecrets(secretsOf(record));
    write(record);
    return record.tokens?.access_token;
  }

  async #grant(stored: StoredSignIn | undefined, response: Response | undefined): Promise<StoredSignIn> {
    const { extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
    const asked = response && extractWWWAuthenticateParams(response).scope;
    return grantToClient(this.#server, stored, this.#server.oauth.scopes ?? scopesOf(asked));
  }

  /** A sign-in with new tokens, or `undefined` without; a refused refresh deletes the tokens. */
  async #refresh(
    stored: StoredSignIn | undefined,
    write: (record: StoredSignIn) => void,
  ): Promise<StoredSignIn | undefined> {
    const { label, oauth } = this.#server;
    const { refresh_token: refreshToken, scope } = stored?.tokens ?? {};
    if (stored === undefined || refreshToken === undefined) return undefined;
    const { issuer, metadata, client, resource } = stored;
    // A full disk is noticed before the token is redeemed, which may be possible only once.
    write(stored);
    const { refreshAuthorization, OAuthError } = await import("@modelcontextprotocol/client");
    try {
      const tokens = await refreshAuthorization(issuer, {
        metadata,
        clientInformation: withSecret(client, oauth),
        refreshToken,
        resource,
        fetchFn: new IssuerFetch(label).fetch,
      });
      return { ...stored, tokens: toTokens({ ...tokens, scope: tokens.scope ?? scope }) };
    } catch (error) {
      const isRefused =
        error instanceof OAuthError && !["server_error", "temporarily_unavailable"].includes(error.code);
      if (!isRefused) throw error;
      write({ ...stored, tokens: undefined });
      return undefined;
    }
  }
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
export function adaptProvider(
  { label, url }: SignInServer,
  given: HostAuthProvider,
  onSecrets: (secrets: readonly string[]) => void,
): Authorization {
  const provider = given as OAuthClientProvider;
  const read = async () => {
    const tokens = await provider.tokens();
    if (tokens !== undefined) onSecrets(secretsOf({ client: { client_id: "" }, tokens: toTokens(tokens) }));
    return tokens;
  };
  let scopes: readonly string[] = [];
  return {
    get scopes() {
      return scopes;
    },
    async token() {
      const tokens = await read();
      scopes = scopesOf(tokens?.scope);
      return tokens?.access_token;
    },
    async renew(_, response) {
      const { auth, extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
      try {
        const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
        const { fetch: fetchFn } = new IssuerFetch(label);
        await auth(provider, { serverUrl: url, resourceMetadataUrl, scope, fetchFn });
        return { token: (await read())?.access_token };
      } catch (error) {
        return { token: undefined, fault: textOf(error) };
      }
    },
  };
}
