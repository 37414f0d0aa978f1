import { createHash, timingSafeEqual } from "node:crypto";
import { printable } from "../../problems/index.ts";
import type { IsOurHost } from "./allowed-hosts.ts";
import { refusal } from "./answers.ts";
import type { CrossOrigins } from "./cors.ts";
import type { Answer, RequestHead } from "./http-answers.ts";

export const path = "/mcp";
const healthPath = "/healthz";
const bearer = /^Bearer +([\x21-\x7e]+)$/i;

/** Why a request is refused before its body is read. Each endpoint formats it in its own way. */
export interface HeadRefusal {
  status: number;
  message: string;
  headers?: Readonly<Record<string, string>>;
}

export const digestOf = (token: string): Uint8Array => createHash("sha256").update(token).digest();

/** The only value of a header; `undefined` if it is missing or repeated, because one of several may be forged. */
export function onlyValue(head: RequestHead, name: string): string | undefined {
  const values = head.headerValues(name);
  return values.length === 1 ? values[0] : undefined;
}

export function checkPath({ target }: RequestHead, path: string): HeadRefusal | undefined {
  if (target.split("?", 1)[0] === path) return undefined;
  return { status: 404, message: `Not found. The only path is ${path}.` };
}

export function checkMethod(head: RequestHead, methods: readonly string[]): HeadRefusal | undefined {
  if (methods.includes(head.method)) return undefined;
  const allow = methods.join(", ");
  return { status: 405, message: `Method not allowed. Use ${allow}.`, headers: { allow } };
}

export function checkEncoding(head: RequestHead): HeadRefusal | undefined {
  const encodings = head.headerValues("content-encoding");
  if (encodings.every((encoding) => encoding.toLowerCase() === "identity")) return undefined;
  const headers = { "accept-encoding": "identity" };
  return { status: 415, message: "Compressed bodies are not supported.", headers };
}

export const findToken = (head: RequestHead): string | undefined =>
  bearer.exec(onlyValue(head, "authorization") ?? "")?.[1];

/** `isTried`: the request has a token, but an invalid one. */
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

/** The values of a header for people. Hostile. */
const show = (head: RequestHead, name: string): string => {
  const text = printable(head.headerValues(name).join(", "));
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
};

/** Checks `Host` and `Origin`. The messages say how to allow what they refuse. */
function checkPlace(
  head: RequestHead,
  port: number,
  { isOurHost, origins }: Places,
): (HeadRefusal & { header: string }) | undefined {
  if (!isOurHost(onlyValue(head, "host") ?? "", port, 80)) {
    const message = `The Host header "${show(head, "host")}" is not a name of this server. If clients use this name, pass it with --allowed-host.`;
    return { status: 403, message, header: "host" };
  }
  const isAllowed = (origin: string) => isOurOrigin(origin, port, isOurHost);
  if (origins.find(head) === undefined && !head.headerValues("origin").every(isAllowed)) {
    const message = `The Origin header "${show(head, "origin")}" is not an origin of this server. If a page of it may use the server, pass it with --allowed-origin.`;
    return { status: 403, message, header: "origin" };
  }
  return undefined;
}

function checkToken(head: RequestHead, expected: Uint8Array): HeadRefusal | undefined {
  const given = findToken(head);
  // Comparing digests takes the same time for every token.
  if (given !== undefined && timingSafeEqual(digestOf(given), expected)) return undefined;
  return refuseAccess(hasTriedAccess(head), {
    missing: "A token is required: send it as `Authorization: Bearer <token>`.",
    invalid: "The token is invalid.",
  });
}

interface Places {
  isOurHost: IsOurHost;
  origins: CrossOrigins;
}

/**
 * Checks everything before the body, in this order: Host, Origin, path, token, method, encoding. `onMisplaced` is called with
 * the message for the first request with another Host, and with another Origin.
 */
export function createHeadCheck(
  options: Places & {
    token: string | undefined;
    methods: readonly string[];
    onMisplaced: ((message: string) => void) | undefined;
  },
): (head: RequestHead, port: number) => Answer | undefined {
  const { origins, token, methods, onMisplaced } = options;
  const expected = token === undefined ? undefined : digestOf(token);
  const reported = new Set<string>();
  return (head, port) => {
    const misplaced = checkPlace(head, port, options);
    if (misplaced !== undefined && !reported.has(misplaced.header)) {
      reported.add(misplaced.header);
      onMisplaced?.(misplaced.message);
    }
    const preflight = misplaced === undefined ? origins.answerPreflight(head, methods) : undefined;
    if (preflight !== undefined) return preflight;
    const refused =
      misplaced ??
      checkPath(head, path) ??
      (expected === undefined ? undefined : checkToken(head, expected)) ??
      checkMethod(head, methods) ??
      checkEncoding(head);
    return refused && refusal(refused.status, refused.message, refused);
  };
}

/** The answer to a probe, which needs neither a token nor a known host; `undefined` for another path. */
export function answerProbe(head: RequestHead, isEnding: boolean): Answer | undefined {
  if (checkPath(head, healthPath) !== undefined) return undefined;
  const refused = checkMethod(head, ["GET", "HEAD"]);
  if (refused !== undefined) return refusal(refused.status, refused.message, refused);
  return isEnding
    ? { status: 503, body: JSON.stringify({ status: "ending" }) }
    : { status: 200, body: JSON.stringify({ status: "ok" }) };
}
