import { createHash, timingSafeEqual } from "node:crypto";
import type { IsOurHost } from "./allowed-hosts.ts";
import { refusal } from "./answers.ts";
import type { Answer, RequestHead } from "./http-answers.ts";

export const path = "/mcp";
const bearer = /^Bearer +([\x21-\x7e]+)$/i;

/** Why a request is refused before its body is read. Each endpoint has its own form of answers. */
export interface HeadRefusal {
  status: number;
  message: string;
  headers?: Readonly<Record<string, string>>;
}

export const digestOf = (token: string): Uint8Array => createHash("sha256").update(token).digest();

/** The one value of a header; `undefined` where there is none, or where there are two and one may be forged. */
export function onlyValue(head: RequestHead, name: string): string | undefined {
  const values = head.headerValues(name);
  return values.length === 1 ? values[0] : undefined;
}

export function checkPath({ target }: RequestHead, path: string): HeadRefusal | undefined {
  if (target.split("?", 1)[0] === path) return undefined;
  return { status: 404, message: `There is only ${path} here.` };
}

export function checkMethod(head: RequestHead, methods: readonly string[]): HeadRefusal | undefined {
  if (methods.includes(head.method)) return undefined;
  const allow = methods.join(", ");
  return { status: 405, message: `Only ${allow} can be used here.`, headers: { allow } };
}

export function checkEncoding(head: RequestHead): HeadRefusal | undefined {
  const encodings = head.headerValues("content-encoding");
  if (encodings.every((encoding) => encoding.toLowerCase() === "identity")) return undefined;
  const headers = { "accept-encoding": "identity" };
  return { status: 415, message: "The body must not be compressed.", headers };
}

export const findToken = (head: RequestHead): string | undefined =>
  bearer.exec(onlyValue(head, "authorization") ?? "")?.[1];

/** `isTried`: there is a token, but not a valid one. */
export function refuseAccess(
  isTried: boolean,
  { missing, invalid }: { missing: string; invalid: string },
): HeadRefusal {
  const challenge = `Bearer realm="trailblaze"${isTried ? ', error="invalid_token"' : ""}`;
  const headers = { "www-authenticate": challenge };
  return { status: 401, message: isTried ? invalid : missing, headers };
}

export const hasTriedAccess = (head: RequestHead): boolean => head.headerValues("authorization").length > 0;

function isOurOrigin(origin: string, port: number, isOurHost: IsOurHost): boolean {
  const [, scheme, host = ""] = /^(https?):\/\/([^/?#@\\]+)$/i.exec(origin) ?? [];
  return scheme !== undefined && isOurHost(host, port, scheme.toLowerCase() === "https" ? 443 : 80);
}

function checkPlace(head: RequestHead, port: number, isOurHost: IsOurHost): HeadRefusal | undefined {
  if (!isOurHost(onlyValue(head, "host") ?? "", port, 80)) {
    return { status: 403, message: "The Host header is not that of this server." };
  }
  if (!head.headerValues("origin").every((origin) => isOurOrigin(origin, port, isOurHost))) {
    return { status: 403, message: "Requests of pages from elsewhere are refused." };
  }
  return checkPath(head, path);
}

function checkToken(head: RequestHead, expected: Uint8Array): HeadRefusal | undefined {
  const given = findToken(head);
  // Digests, so that they are of one length and take the same time whatever they have in common.
  if (given !== undefined && timingSafeEqual(digestOf(given), expected)) return undefined;
  return refuseAccess(hasTriedAccess(head), {
    missing: "Send `Authorization: Bearer` and the token.",
    invalid: "The token is not that of this server.",
  });
}

/** Checks all that can be known before the body, in this order: Host, Origin, path, token, method, encoding. */
export function createHeadCheck(options: {
  isOurHost: IsOurHost;
  token: string | undefined;
  methods: readonly string[];
}): (head: RequestHead, port: number) => Answer | undefined {
  const { isOurHost, token, methods } = options;
  const expected = token === undefined ? undefined : digestOf(token);
  return (head, port) => {
    const refused =
      checkPlace(head, port, isOurHost) ??
      (expected === undefined ? undefined : checkToken(head, expected)) ??
      checkMethod(head, methods) ??
      checkEncoding(head);
    return refused && refusal(refused.status, refused.message, refused);
  };
}
