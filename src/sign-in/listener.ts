// Where the issuer's answer arrives.
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createHostCheck } from "../mcp/http/http-options.ts";
import { failure } from "../problems/index.ts";
import { isLocal, signInFailure } from "./issuer.ts";
import type { SignInServer } from "./stored.ts";

/** Where the issuer sends the user with its answer. */
interface Redirect {
  redirectUrl: string;
  /** Resolves with the parameters of the answer. */
  answer(): Promise<URLSearchParams>;
  close(): void;
}

/** Listens on this machine alone at a redirect URL, of which port 0 becomes a free one. The answer is the first that has the state. */
async function listenAt(url: string, state: string): Promise<Redirect> {
  const redirect = new URL(url);
  const isFree = redirect.port === "0";
  const server = createServer();
  server.listen(Number(redirect.port || 80), redirect.hostname === "[::1]" ? "::1" : "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  redirect.port = String(port);
  const isOwnHost = createHostCheck(redirect.hostname, []);
  const answer = new Promise<URLSearchParams>((resolve) => {
    server.on("request", (request, response) => {
      const reply = (status: number, text: string) =>
        response
          .writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" })
          .end(`${text}\n`);
      if (!isOwnHost(request.headers.host ?? "", port, 80))
        return reply(403, "This address is not for other hosts.");
      const address = URL.canParse(request.url ?? "", url) ? new URL(request.url ?? "", url) : undefined;
      if (address?.pathname !== redirect.pathname || request.method !== "GET")
        return reply(404, "There is nothing here.");
      const { searchParams } = address;
      if (searchParams.get("state") !== state) return reply(400, "This is not the answer that is awaited.");
      reply(200, "You can close this page and go back to the terminal.");
      return response.once("close", () => resolve(searchParams));
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
export async function openRedirect(
  { label, oauth: { callbackPort, redirectUrl } }: SignInServer,
  before: string | undefined,
  state: string,
  readPasted: (() => Promise<string | undefined>) | undefined,
): Promise<Redirect> {
  const toUrl = (port: number, host = "127.0.0.1") => `http://${host}:${port}/callback`;
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
