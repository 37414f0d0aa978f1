import type { OpenedEndpoint } from "./open-endpoint.ts";

/** The head of a valid request, up to the empty line; a header of `undefined` is left out, of a list repeated. */
export function formatHead(
  { endpoint, token }: Pick<OpenedEndpoint, "endpoint" | "token">,
  headers: Record<string, string | readonly string[] | undefined> = {},
  line = "POST /scripting/callback HTTP/1.1",
): string {
  const all = {
    Host: `127.0.0.1:${endpoint.port}`,
    Authorization: `Bearer ${token}`,
    "Content-Type": "application/json",
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => `${name}: ${one}\r\n`),
  );
  return `${line}\r\n${lines.join("")}\r\n`;
}

/** A whole request with its body's length. */
export function formatRequest(
  opened: Pick<OpenedEndpoint, "endpoint" | "token">,
  body: unknown,
  headers: Record<string, string | readonly string[] | undefined> = {},
): string {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return `${formatHead(opened, { "Content-Length": String(Buffer.byteLength(text)), ...headers })}${text}`;
}
