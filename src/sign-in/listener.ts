// Where the browser brings the issuer's answer: an address of this machine alone.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Where the issuer sends the user with its answer. */
export interface Redirect {
  redirectUrl: string;
  /** Its parameters: the first that have the state of the sign-in. Never settles without. */
  answer(): Promise<URLSearchParams>;
  close(): void;
}

/** Listens at a redirect URL, of which port 0 becomes a free one. Rejects if the port cannot be used. */
export async function listenAt(url: string, state: string): Promise<Redirect> {
  const redirect = new URL(url);
  let resolveAnswer: (answer: URLSearchParams) => void = () => {};
  const answer = new Promise<URLSearchParams>((resolve) => {
    resolveAnswer = resolve;
  });
  const server = createServer((request, response) => {
    const reply = (status: number, text: string) =>
      response
        .writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" })
        .end(`${text}\n`);
    const { port } = server.address() as AddressInfo;
    const hosts = [redirect.host, `127.0.0.1:${port}`, `localhost:${port}`];
    if (!hosts.includes(request.headers.host ?? ""))
      return reply(403, "This address is not for other hosts.");
    const address = URL.canParse(request.url ?? "", url) ? new URL(request.url ?? "", redirect) : undefined;
    if (address?.pathname !== redirect.pathname || request.method !== "GET")
      return reply(404, "There is nothing here.");
    const { searchParams } = address;
    if (searchParams.get("state") !== state) return reply(400, "This is not the answer that is awaited.");
    reply(200, "You can close this page and go back to the terminal.");
    response.once("close", () => resolveAnswer(searchParams));
  });
  const host = redirect.hostname === "[::1]" ? "::1" : "127.0.0.1";
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(redirect.port === "" ? 80 : Number(redirect.port), host, resolve);
  });
  const isFree = redirect.port === "0";
  if (isFree) redirect.port = String((server.address() as AddressInfo).port);
  // As it is written otherwise, because the issuer compares the text.
  return {
    redirectUrl: isFree ? redirect.href : url,
    answer: () => answer,
    close() {
      server.close();
      // Browsers open connections that they may never use.
      server.closeAllConnections();
    },
  };
}
