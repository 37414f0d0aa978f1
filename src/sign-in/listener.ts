// Where the issuer's answer arrives.
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createHostCheck } from "../mcp/http/http-options.ts";
import { failure } from "../problems/index.ts";
import { isLocal, signInFailure } from "./issuer.ts";
import type { SignInServer } from "./stored.ts";

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
export async function openRedirect(
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
