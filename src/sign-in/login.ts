// Signing in: the only place that opens a browser.
import { spawn } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import type { OAuthClientProvider, StoredOAuthClientInformation } from "@modelcontextprotocol/client";
import { explainFileError } from "../files/write-files.ts";
import { createRedactor } from "../mcp/client/redact.ts";
import { failure, type SignInFault, TrailblazeError } from "../problems/index.ts";
import { findProgramHere } from "../processes/server-process.ts";
import { abortable, timerMs } from "../runtime/abort-listeners.ts";
import {
  checkAddress,
  checkIssuer,
  chooseResource,
  IssuerFetch,
  isLocal,
  type SignInServer,
  signInFailure,
  withSecret,
} from "./issuer.ts";
import { listenAt, type Redirect } from "./listener.ts";
import { fetchOwnToken } from "./renew.ts";
import { readSignIn, type StoredSignIn, scopesOf, toTokens, withSignInLock } from "./stored.ts";

export interface LoginOptions {
  /** The entry's headers, for the server alone. */
  headers: Readonly<Record<string, string>>;
  /** Come before those of the config and of the server. */
  scopes: readonly string[];
  /** Reads the redirect URL that the user pastes, instead of listening; `undefined` at the end of the input. */
  readPasted: (() => Promise<string | undefined>) | undefined;
  timeoutMs: number;
  signal: AbortSignal;
  /** Shows the URL to open. */
  show(url: string): void;
}

/** What opens a URL, which is its last argument. */
const openers: Readonly<Record<string, readonly string[]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens a URL without a shell. Where that fails, the user does it. */
function openBrowser(url: string): void {
  const { BROWSER } = process.env;
  const [command = "", ...args] = BROWSER ? [BROWSER] : (openers[process.platform] ?? ["xdg-open"]);
  try {
    const written = { command, args: [...args, url], cwd: process.cwd(), env: process.env };
    const { verbatim, ...program } = findProgramHere(written) ?? { verbatim: false, ...written };
    const options = { detached: true, stdio: "ignore", windowsVerbatimArguments: verbatim } as const;
    const child = spawn(program.command, [...program.args], options);
    child.on("error", () => {});
    child.unref();
  } catch {
    // What cannot be started.
  }
}

/** The redirect URL, and what brings the answer to it. Throws `SignInFailed`, or `InvalidArguments`. */
async function prepareRedirect(
  { label, oauth }: SignInServer,
  before: string | undefined,
  { readPasted }: LoginOptions,
  state: string,
): Promise<Redirect> {
  const toUrl = (port: number, host = "127.0.0.1") => `http://${host}:${port}/callback`;
  const { callbackPort, redirectUrl } = oauth;
  const fixed = redirectUrl ?? (callbackPort === undefined ? undefined : toUrl(callbackPort, "localhost"));
  if (readPasted !== undefined) {
    const read = async () => {
      const line = (await readPasted())?.trim() ?? "";
      return URL.canParse(line) ? new URL(line).searchParams : new URLSearchParams();
    };
    return { redirectUrl: fixed ?? before ?? toUrl(randomInt(49_152, 65_536)), answer: read, close() {} };
  }
  if (fixed !== undefined && !isLocal(new URL(fixed))) {
    const reason = "`oauth.redirectUrl` of the server is not on this machine";
    throw failure("InvalidArguments", { reason, hint: "Add --no-browser, and paste the URL." });
  }
  const known = fixed ?? (before !== undefined && isLocal(new URL(before)) ? before : toUrl(0));
  return listenAt(known, state).catch((error: Error) => {
    if (fixed !== undefined) throw signInFailure(label, "port", error.message);
    return listenAt(toUrl(0), state);
  });
}

/** One sign-in by a user: what is known of it so far. */
interface Attempt {
  fetcher: IssuerFetch;
  /** What is being done, for errors that do not say more. */
  step: SignInFault;
  secrets: (string | undefined)[];
}

/** Resolves with what is to be stored, or with `undefined` if the server needs no sign-in. */
async function signIn(
  server: SignInServer,
  options: LoginOptions,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<StoredSignIn | undefined> {
  const { label, url, oauth } = server;
  const { fetcher } = attempt;
  const fail = (reason: SignInFault, detail?: string) => signInFailure(label, reason, detail);
  const stored = readSignIn(url);
  const sdk = await import("@modelcontextprotocol/client");

  // What the server asks for without a token.
  const challenge = await fetcher.ask(url, {
    method: "POST",
    headers: {
      ...options.headers,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
  });
  const asked = sdk.extractWWWAuthenticateParams(challenge);
  if (challenge.status !== 401) {
    const find = sdk.discoverOAuthProtectedResourceMetadata(url, {}, fetcher.fetch);
    const metadata = await find.catch(() => undefined);
    if (fetcher.fault !== undefined) throw fetcher.fault;
    if (metadata === undefined) return undefined;
  }

  const state = randomBytes(32).toString("base64url");
  const redirect = await prepareRedirect(server, stored?.redirectUrl, options, state);
  const { redirectUrl } = redirect;
  let found: Pick<StoredSignIn, "metadata" | "resource"> | undefined;
  let client: StoredOAuthClientInformation | undefined;
  let codeVerifier = "";
  let authorizationUrl: URL | undefined;
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadataUrl: oauth.clientMetadataUrl,
    clientMetadata: {
      client_name: "Trailblaze",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    },
    // What was found before may be of another issuer.
    discoveryState: () => undefined,
    async saveDiscoveryState(discovered) {
      if (fetcher.fault !== undefined) throw fetcher.fault;
      const metadata = checkIssuer(server, discovered.authorizationServerMetadata, stored);
      const resource = await chooseResource(label, url, discovered.resourceMetadata?.resource);
      found = { metadata, resource: resource.href };
      attempt.step = "registration";
    },
    validateResourceURL: (_, written) => chooseResource(label, url, written),
    clientInformation(context) {
      const { clientId: client_id, clientMetadataUrl } = oauth;
      if (client_id !== undefined) client = { client_id, issuer: context?.issuer };
      const hasDocument = clientMetadataUrl && found?.metadata.client_id_metadata_document_supported === true;
      const isRegistered = stored?.redirectUrl === redirectUrl && stored.issuer === context?.issuer;
      if (isRegistered && !hasDocument) client ??= stored.client;
      return client;
    },
    saveClientInformation: (registered) => {
      client = registered;
    },
    tokens: () => undefined,
    saveTokens() {},
    state: () => state,
    saveCodeVerifier: (verifier) => {
      codeVerifier = verifier;
    },
    codeVerifier: () => codeVerifier,
    redirectToAuthorization: (address) => {
      authorizationUrl = address;
    },
  };
  try {
    const scopes = [options.scopes, oauth.scopes ?? [], scopesOf(asked.scope)].find(
      (some) => some.length > 0,
    );
    await sdk.auth(provider, {
      serverUrl: url,
      resourceMetadataUrl: asked.resourceMetadataUrl,
      scope: scopes?.join(" "),
      forceReauthorization: true,
      fetchFn: fetcher.fetch,
    });
    if (!authorizationUrl || !found || !client) throw new Error("there is no URL to open");
    options.show(authorizationUrl.href);
    if (options.readPasted === undefined) openBrowser(authorizationUrl.href);
    const answer = await abortable(signal, redirect.answer);

    const { metadata, resource } = found;
    if (answer.get("state") !== state) throw fail("state");
    const iss = answer.get("iss") ?? undefined;
    const mustName = metadata.authorization_response_iss_parameter_supported === true;
    // What else it says may be of another issuer.
    if (iss === undefined ? mustName : iss !== metadata.issuer) throw fail("issuer", "of the answer");
    const [error, description] = [answer.get("error"), answer.get("error_description")];
    if (error !== null) throw fail("denied", description === null ? error : `${error}: ${description}`);
    const authorizationCode = answer.get("code");
    if (authorizationCode === null) throw fail("exchange", "the answer has no code");

    attempt.step = "exchange";
    const clientInformation = withSecret(client, oauth);
    attempt.secrets = [authorizationCode, codeVerifier, clientInformation.client_secret];
    const tokens = await sdk.exchangeAuthorization(metadata.issuer, {
      ...{ metadata, clientInformation, authorizationCode, iss, codeVerifier, resource },
      redirectUri: redirectUrl,
      fetchFn: fetcher.fetch,
    });
    const scope = tokens.scope ?? authorizationUrl.searchParams.get("scope") ?? undefined;
    return {
      ...{ url: url.href, issuer: metadata.issuer, metadata, resource, client },
      redirectUrl: oauth.clientId === undefined ? redirectUrl : undefined,
      tokens: toTokens({ ...tokens, scope }),
    };
  } finally {
    redirect.close();
  }
}

/** Why a sign-in has failed. */
async function explain(label: string, error: unknown, attempt: Attempt): Promise<TrailblazeError> {
  for (const one of [attempt.fetcher.fault, error]) if (one instanceof TrailblazeError) return one;
  const { InsecureTokenEndpointError, IssuerMismatchError } = await import("@modelcontextprotocol/client");
  const { message, cause } = error as Error;
  const words =
    explainFileError(error) ?? (cause instanceof Error ? `${message}: ${cause.message}` : message);
  const { redact } = createRedactor(attempt.secrets.filter((one) => one !== undefined));
  const { step } = attempt;
  const reason =
    error instanceof IssuerMismatchError
      ? "issuer"
      : error instanceof InsecureTokenEndpointError
        ? "endpoint"
        : step;
  return signInFailure(label, reason, redact(words).slice(0, 400));
}

/**
 * Signs in to a server, always anew. Resolves with `undefined` if it needs no sign-in. Throws `SignInFailed`; then nothing was
 * stored, and what was stored stays.
 */
export async function login(server: SignInServer, options: LoginOptions): Promise<StoredSignIn | undefined> {
  const { label, url, oauth } = server;
  const limit = AbortSignal.timeout(timerMs(options.timeoutMs));
  const signal = AbortSignal.any([options.signal, limit]);
  const attempt: Attempt = { fetcher: new IssuerFetch(label, signal), step: "endpoint", secrets: [] };
  checkAddress(label, "its URL", url.href);
  try {
    if (oauth.grant === "client_credentials") {
      attempt.step = "exchange";
      return await fetchOwnToken(server, options.scopes, signal);
    }
    const record = await signIn(server, options, attempt, signal);
    if (record !== undefined) await withSignInLock(url, (write) => write(record), signal);
    return record;
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason;
    if (limit.aborted) throw signInFailure(label, "timeout");
    throw await explain(label, error, attempt);
  }
}
