import { createHash, timingSafeEqual } from "node:crypto";
import type { IsOurHost } from "./allowed-hosts.ts";
import { refusal } from "./answers.ts";
import type { Answer, RequestHead } from "./http-answers.ts";

export const path = "/mcp";
const bearer = /^Bearer +([\x21-\x7e]+)$/i;

const digestOf = (token: string): Uint8Array => createHash("sha256").update(token).digest();

/** The one value of a header; `undefined` where there is none, or where there are two and one may be forged. */
function onlyValue(head: RequestHead, name: string): string | undefined {
  const values = head.headerValues(name);
  return values.length === 1 ? values[0] : undefined;
}

function isOurOrigin(origin: string, port: number, isOurHost: IsOurHost): boolean {
  const [, scheme, host = ""] = /^(https?):\/\/([^/?#@\\]+)$/i.exec(origin) ?? [];
  return scheme !== undefined && isOurHost(host, port, scheme.toLowerCase() === "https" ? 443 : 80);
}

function refusePlace(head: RequestHead, port: number, isOurHost: IsOurHost): Answer | undefined {
  if (!isOurHost(onlyValue(head, "host") ?? "", port, 80)) {
    return refusal(403, "The Host header is not that of this server.");
  }
  if (!head.headerValues("origin").every((origin) => isOurOrigin(origin, port, isOurHost))) {
    return refusal(403, "Requests of pages from elsewhere are refused.");
  }
  return head.target.split("?", 1)[0] === path ? undefined : refusal(404, `There is only ${path} here.`);
}

function refuseAccess(head: RequestHead, expected: Uint8Array): Answer | undefined {
  const given = bearer.exec(onlyValue(head, "authorization") ?? "")?.[1];
  // Digests, so that they are of one length and take the same time whatever they have in common.
  if (given !== undefined && timingSafeEqual(digestOf(given), expected)) return undefined;
  const isTried = head.headerValues("authorization").length > 0;
  const challenge = `Bearer realm="trailblaze"${isTried ? ', error="invalid_token"' : ""}`;
  const message = isTried
    ? "The token is not that of this server."
    : "Send `Authorization: Bearer` and the token.";
  return refusal(401, message, { headers: { "www-authenticate": challenge } });
}

/** Checks all that can be known before the body, in this order: Host, Origin, path, token, method, encoding. */
export function createHeadCheck(options: {
  isOurHost: IsOurHost;
  token: string | undefined;
  methods: readonly string[];
}): (head: RequestHead, port: number) => Answer | undefined {
  const { isOurHost, token, methods } = options;
  const expected = token === undefined ? undefined : digestOf(token);
  const allow = methods.join(", ");
  return (head, port) => {
    const misplaced = refusePlace(head, port, isOurHost);
    if (misplaced !== undefined) return misplaced;
    const locked = expected === undefined ? undefined : refuseAccess(head, expected);
    if (locked !== undefined) return locked;
    if (!methods.includes(head.method)) {
      return refusal(405, `Only ${allow} can be used here.`, { headers: { allow } });
    }
    if (head.headerValues("content-encoding").some((encoding) => encoding.toLowerCase() !== "identity")) {
      return refusal(415, "The body must not be compressed.", { headers: { "accept-encoding": "identity" } });
    }
    return undefined;
  };
}
