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
  chooseScope,
  createIssuerFetch,
  isLocal,
  signInFailure,
  withSecret,
} from "./issuer.ts";
import { listenAt, type Redirect } from "./listener.ts";
import { fetchOwnToken } from "./renew.ts";
import {
  readSignIn,
  type SignInServer,
  type StoredSignIn,
  scopesOf,
  toTokens,
  withSignInLock,
} from "./stored.ts";

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
    const answer = async () => {
      const line = (await readPasted())?.trim() ?? "";
      return URL.canParse(line) ? new URL(line).searchParams : new URLSearchParams();
    };
    return { redirectUrl: fixed ?? before ?? toUrl(randomInt(49_152, 65_536)), answer, close() {} };
  }
  if (fixed !== undefined && !isLocal(new URL(fixed))) {
    const reason = "`oauth.redirectUrl` of the server is not on this machine";
    throw failure("InvalidArguments", { reason, hint: "Add --no-browser, and paste the URL." });
  }
  const isLocalBefore = before !== undefined && isLocal(new URL(before));
  return listenAt(fixed ?? (isLocalBefore ? before : toUrl(0)), state).catch((error: Error) => {
    if (fixed !== undefined) throw signInFailure(label, "port", error.message);
    return listenAt(toUrl(0), state);
  });
}

/** What a sign-in is doing, and what an error of it must not show. */
interface Progress {
  step: SignInFault;
  secrets: string[];
}

/** Resolves with what is to be stored, or with `undefined` if the server needs no sign-in. */
async function signIn(
  server: SignInServer,
  options: LoginOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<StoredSignIn | undefined> {
  const { label, url, oauth } = server;
  const fetchFn = createIssuerFetch(label, signal);
  const stored = readSignIn(server);
  const sdk = await import("@modelcontextprotocol/client");

  // What the server asks for without a token.
  const challenge = await fetchFn(url, {
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
    const metadata = await sdk.discoverOAuthProtectedResourceMetadata(url, {}, fetchFn).catch((error) => {
      if (error instanceof TypeError) throw error;
    });
    if (metadata === undefined) return undefined;
  }

  const state = randomBytes(32).toString("base64url");
  const redirect = await prepareRedirect(server, stored?.redirectUrl, options, state);
  const { redirectUrl } = redirect;
  let found: Awaited<ReturnType<typeof checkIssuer>> | undefined;
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
    async saveDiscoveryState(discovered) {
      found = await checkIssuer(server, discovered, stored);
      progress.step = "registration";
      const { issuer, metadata } = found;
      const hasDocument = oauth.clientMetadataUrl && metadata.client_id_metadata_document_supported === true;
      const isRegistered = stored?.redirectUrl === redirectUrl && stored.issuer === issuer;
      if (oauth.clientId !== undefined) client = { client_id: oauth.clientId, issuer };
      else if (isRegistered && !hasDocument) client = stored.client;
    },
    clientInformation: () => client,
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
    await sdk.auth(provider, {
      serverUrl: url,
      resourceMetadataUrl: asked.resourceMetadataUrl,
      scope: chooseScope(options.scopes, oauth.scopes, scopesOf(asked.scope)),
      forceReauthorization: true,
      fetchFn,
    });
    if (!authorizationUrl || !found || !client) throw new Error("there is no URL to open");
    const { issuer, metadata, resource } = found;
    // The SDK leaves it out where the server has no metadata.
    authorizationUrl.searchParams.set("resource", resource);
    options.show(authorizationUrl.href);
    if (options.readPasted === undefined) openBrowser(authorizationUrl.href);
    const answer = await abortable(signal, redirect.answer);

    if (answer.get("state") !== state) throw signInFailure(label, "state");
    const iss = answer.get("iss") ?? undefined;
    const mustName = metadata.authorization_response_iss_parameter_supported === true;
    // What else it says may be of another issuer.
    if (iss === undefined ? mustName : iss !== issuer) throw signInFailure(label, "issuer", "of the answer");
    const [error, description] = [answer.get("error"), answer.get("error_description")];
    if (error !== null)
      throw signInFailure(label, "denied", description === null ? error : `${error}: ${description}`);

    progress.step = "exchange";
    const authorizationCode = answer.get("code");
    if (authorizationCode === null) throw new Error("the answer has no code");
    const clientInformation = withSecret(client, oauth);
    progress.secrets = [authorizationCode, codeVerifier, clientInformation.client_secret ?? ""];
    const tokens = await sdk.exchangeAuthorization(issuer, {
      ...{ metadata, clientInformation, authorizationCode, iss, codeVerifier, resource, fetchFn },
      redirectUri: redirectUrl,
    });
    return {
      ...{ url: url.href, ...found, client },
      redirectUrl: oauth.clientId === undefined ? redirectUrl : undefined,
      tokens: toTokens(tokens, authorizationUrl.searchParams.get("scope") ?? undefined),
    };
  } finally {
    redirect.close();
  }
}

/** Why a sign-in has failed. */
async function explain(label: string, error: unknown, { step, secrets }: Progress): Promise<TrailblazeError> {
  const { message, cause } = error as Error;
  for (const one of [error, cause]) if (one instanceof TrailblazeError) return one;
  const { IssuerMismatchError } = await import("@modelcontextprotocol/client");
  const reason = error instanceof IssuerMismatchError ? "issuer" : step;
  const { redact } = createRedactor(secrets);
  return signInFailure(label, reason, redact(explainFileError(error) ?? message).slice(0, 400));
}

/**
 * Signs in to a server, always anew. Resolves with `undefined` if it needs no sign-in. Throws `SignInFailed`; then nothing was
 * stored, and what was stored stays.
 */
export async function login(server: SignInServer, options: LoginOptions): Promise<StoredSignIn | undefined> {
  const { label, url, oauth } = server;
  const limit = AbortSignal.timeout(timerMs(options.timeoutMs));
  const signal = AbortSignal.any([options.signal, limit]);
  const isOwnGrant = oauth.grant === "client_credentials";
  const progress: Progress = { step: isOwnGrant ? "exchange" : "endpoint", secrets: [] };
  try {
    checkAddress(label, "its URL", url.href);
    if (isOwnGrant) return await fetchOwnToken(server, options.scopes, signal);
    const record = await signIn(server, options, progress, signal);
    if (record !== undefined) await withSignInLock(url, (write) => write(record), signal);
    return record;
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason;
    if (limit.aborted) throw signInFailure(label, "timeout");
    throw await explain(label, error, progress);
  }
}
