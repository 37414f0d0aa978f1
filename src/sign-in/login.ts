// Signing in: the only place that opens a browser.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { explainFileError } from "../files/write-files.ts";
import { type SignInFault, TrailblazeError } from "../problems/index.ts";
import { findProgramHere } from "../processes/server-process.ts";
import { abortable, timerMs } from "../runtime/abort-listeners.ts";
import { createRedactor } from "../runtime/redact.ts";
import { createIssuerFetch, findIssuer, signInFailure } from "./issuer.ts";
import { openRedirect } from "./listener.ts";
import { useStoredTokens } from "./renew.ts";
import { readSignIn, type SignInServer, type StoredSignIn, toTokens, withSignInLock } from "./stored.ts";

export interface LoginOptions {
  /** Reads the redirect URL that the user pastes, instead of listening; `undefined` at the end of the input. */
  readPasted: (() => Promise<string | undefined>) | undefined;
  timeoutMs: number;
  signal: AbortSignal;
  show(url: string): void;
}

/** What opens a URL, which is its last argument. */
const openers: Readonly<Record<string, readonly string[]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens a URL without a shell. Resolves with whether a program for it started; where none does, the user opens it. */
export async function openBrowser(url: string): Promise<boolean> {
  const { BROWSER } = process.env;
  const [command = "", ...args] = BROWSER ? [BROWSER] : (openers[process.platform] ?? ["xdg-open"]);
  try {
    const written = { command, args: [...args, url], cwd: process.cwd(), env: process.env };
    const program = findProgramHere(written);
    if (program === undefined) return false;
    const options = { detached: true, stdio: "ignore", windowsVerbatimArguments: program.verbatim } as const;
    const child = spawn(program.command, [...program.args], options);
    child.unref();
    await once(child, "spawn");
    return true;
  } catch {
    return false;
  }
}

/**
 * Signs in to a server, always anew. Resolves with what is stored now, or with `undefined` if the server needs no sign-in. Throws
 * `SignInFailed`; then nothing was stored, and what was stored stays.
 */
export async function login(server: SignInServer, options: LoginOptions): Promise<StoredSignIn | undefined> {
  const { label, url, headers, oauth } = server;
  const limit = AbortSignal.timeout(timerMs(options.timeoutMs));
  const signal = AbortSignal.any([options.signal, limit]);
  const fail = (reason: SignInFault, detail?: string) => signInFailure(label, reason, detail);
  /** What fails where an error does not say it. */
  let step: SignInFault = "endpoint";
  const secrets = [oauth.clientSecret ?? ""];
  let redirect: Awaited<ReturnType<typeof openRedirect>> | undefined;
  try {
    const stored = readSignIn(server);
    const fetchFn = createIssuerFetch(label, signal);
    const media = { accept: "application/json, text/event-stream", "content-type": "application/json" };
    const challenge = await fetchFn(url, {
      method: "POST",
      headers: { ...headers, ...media },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
    });
    if (oauth.grant === "client_credentials") {
      step = "exchange";
      const { renew } = useStoredTokens(server, () => {}, signal);
      return (await renew(stored?.tokens?.access_token, challenge)) && readSignIn(server);
    }
    const found = await findIssuer(server, stored, challenge, fetchFn);
    if (found === undefined) return undefined;

    step = "registration";
    const { scope, ...lasting } = found;
    const { issuer, metadata, resource } = lasting;
    const sdk = await import("@modelcontextprotocol/client");
    const state = randomBytes(32).toString("base64url");
    redirect = await openRedirect(server, stored?.redirectUrl, state, options.readPasted);
    const { redirectUrl } = redirect;
    // So that the tokens can be renewed.
    const isLasting = scope && metadata.scopes_supported?.includes("offline_access");
    const asked = isLasting ? sdk.computeScopeUnion(scope, "offline_access") : scope;
    if (oauth.clientId === undefined) sdk.validateClientMetadataUrl(oauth.clientMetadataUrl);
    const hasDocument = metadata.client_id_metadata_document_supported === true;
    const clientId = oauth.clientId ?? (hasDocument ? oauth.clientMetadataUrl : undefined);
    const isRegistered = stored?.issuer === issuer && stored.redirectUrl === redirectUrl;
    let client = isRegistered ? stored.client : undefined;
    if (clientId !== undefined) client = { client_id: clientId, issuer };
    if (client === undefined) {
      const written = {
        client_name: "Trailblaze",
        redirect_uris: [redirectUrl],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
      };
      const clientMetadata = sdk.resolveClientMetadata({ redirectUrl, clientMetadata: written });
      const registration = { metadata, clientMetadata, scope: asked, fetchFn };
      client = { ...(await sdk.registerClient(issuer, registration)), issuer };
    }
    // That of the config is not stored.
    const secret = oauth.clientId === undefined ? {} : { client_secret: oauth.clientSecret };
    const clientInformation = { ...client, ...secret };
    const request = { metadata, clientInformation, redirectUrl, scope: asked, state, resource };
    const { authorizationUrl, codeVerifier } = await sdk.startAuthorization(issuer, request);
    options.show(authorizationUrl.href);
    if (options.readPasted === undefined) void openBrowser(authorizationUrl.href);
    const answer = await abortable(signal, redirect.answer);

    if (answer.get("state") !== state) throw fail("state");
    const iss = answer.get("iss") ?? undefined;
    const mustName = metadata.authorization_response_iss_parameter_supported === true;
    // What else it says may be of another issuer, and so may this name.
    if (iss === undefined ? mustName : iss !== issuer) throw fail("issuer", "of the answer");
    const [error, description] = [answer.get("error"), answer.get("error_description")];
    if (error !== null) throw fail("denied", description === null ? error : `${error}: ${description}`);

    step = "exchange";
    const authorizationCode = answer.get("code");
    if (authorizationCode === null) throw new Error("the answer has no code");
    secrets.push(authorizationCode, codeVerifier, client.client_secret ?? "");
    const redirected = { authorizationCode, iss, codeVerifier, redirectUri: redirectUrl };
    const exchange = { metadata, clientInformation, resource, ...redirected, fetchFn };
    const tokens = toTokens(await sdk.exchangeAuthorization(issuer, exchange), asked);
    const registeredAt = oauth.clientId === undefined ? redirectUrl : undefined;
    const record = { url: url.href, ...lasting, client, redirectUrl: registeredAt, tokens };
    await withSignInLock(url, (write) => write(record), signal);
    return record;
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason;
    if (limit.aborted) throw fail("timeout");
    const { message, cause } = error as Error;
    for (const one of [error, cause]) if (one instanceof TrailblazeError) throw one;
    const { IssuerMismatchError } = await import("@modelcontextprotocol/client");
    const { redact } = createRedactor(secrets);
    const detail = redact(explainFileError(error) ?? message);
    throw fail(error instanceof IssuerMismatchError ? "issuer" : step, detail);
  } finally {
    redirect?.close();
  }
}
