// Signing in: the only place that opens a browser, and where the issuer's answer arrives.
import { spawn } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { explainFileError } from "../files/write-files.ts";
import { createHostCheck } from "../mcp/http/http-options.ts";
import { failure, type SignInFault, TrailblazeError } from "../problems/index.ts";
import { findProgramHere } from "../processes/server-process.ts";
import { abortable, timerMs } from "../runtime/abort-listeners.ts";
import { createRedactor } from "../runtime/redact.ts";
import { createIssuerFetch, findIssuer, isLocal, signInFailure } from "./issuer.ts";
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

/** Listens on this machine alone at a redirect URL, of which port 0 becomes a free one. The answer is the first that has the state. */
async function listenAt(url: string, state: string) {
  const redirect = new URL(url);
  const isFree = redirect.port === "0";
  const server = createServer();
  server.listen(Number(redirect.port || 80), redirect.hostname === "[::1]" ? "::1" : "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  redirect.port = String(port);
  const isOwnHost = createHostCheck(redirect.hostname, []);
  const answer = new Promise<URLSearchParams>((resolve) => {
    server.on("request", ({ method, url: target = "", headers }, response) => {
      const { pathname, searchParams } = URL.canParse(target, url) ? new URL(target, url) : {};
      const [status, text] = !isOwnHost(headers.host ?? "", port, 80)
        ? [403, "This address is not for other hosts."]
        : pathname !== redirect.pathname || method !== "GET"
          ? [404, "There is nothing here."]
          : searchParams?.get("state") !== state
            ? [400, "This is not the answer that is awaited."]
            : [200, "You can close this page and go back to the terminal."];
      response.writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" });
      response.end(`${text}\n`);
      if (searchParams && status === 200) response.once("close", () => resolve(searchParams));
    });
  });
  return {
    // Otherwise as it is written, because the issuer compares the text.
    redirectUrl: isFree ? redirect.href : url,
    answer: () => answer,
    close() {
      server.close();
      // Browsers open connections that they may never use.
      server.closeAllConnections();
    },
  };
}

/**
 * Prepares the redirect of a sign-in: that of the config, else that of the registration before if its port is free. `readPasted`
 * takes the place of a listener. Throws `SignInFailed`, or `InvalidArguments`.
 */
async function openRedirect(
  { label, oauth: { callbackPort, redirectUrl } }: SignInServer,
  before: string | undefined,
  state: string,
  readPasted: (() => Promise<string | undefined>) | undefined,
) {
  const toUrl = (port: number, host = "127.0.0.1") => `http://${host}:${port}/callback`;
  const fixed = redirectUrl ?? (callbackPort === undefined ? undefined : toUrl(callbackPort, "localhost"));
  if (readPasted !== undefined) {
    const answer = async () => new URLSearchParams((await readPasted())?.replace(/^[^?]*|#.*$/g, ""));
    return { redirectUrl: fixed ?? before ?? toUrl(randomInt(49_152, 65_536)), answer, close() {} };
  }
  const first = fixed ?? (before !== undefined && isLocal(new URL(before)) ? before : toUrl(0));
  if (isLocal(new URL(first)))
    return listenAt(first, state).catch((error: Error) => {
      if (fixed !== undefined) throw signInFailure(label, "port", error.message);
      return listenAt(toUrl(0), state);
    });
  const reason = "`oauth.redirectUrl` of the server is not on this machine";
  throw failure("InvalidArguments", { reason, hint: "Add --no-browser, and paste the URL." });
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
