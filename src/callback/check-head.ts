import type { Answer, RequestHead } from "../mcp/http/http-answers.ts";
import type { Access } from "./access-tokens.ts";
import { createError } from "./answers.ts";

const path = "/scripting/callback";
const bearer = /^Bearer +([\w.~+/-]+=*)$/i;
const json = /^application\/json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?$/i;

const isOurs = (host: string, port: number): boolean =>
  [`127.0.0.1:${port}`, `localhost:${port}`].includes(host.toLowerCase());

/** The one value of a header; `undefined` where there is none, or where there are two and one may be forged. */
function onlyValue(head: RequestHead, name: string): string | undefined {
  const values = head.headerValues(name);
  return values.length === 1 ? values[0] : undefined;
}

/** A browser sends an Origin, or the name it resolved to us, whatever page made it call. */
function refusePlace(head: RequestHead, port: number): Answer | undefined {
  if (head.headerValues("origin").length > 0) {
    return createError("Requests with an Origin are refused: browsers have no business here.", 403);
  }
  if (!isOurs(onlyValue(head, "host") ?? "", port)) {
    return createError("The Host header is not that of this endpoint.", 403);
  }
  if (head.target.split("?", 1)[0] !== path) return createError(`There is only ${path} here.`, 404);
  if (head.method !== "POST") {
    return createError("Only POST is understood here.", 405, { allow: "POST" });
  }
  return undefined;
}

/** `isTried`: there was a token, but not one that is valid. */
export function refuseAccess(isTried: boolean): Answer {
  const challenge = `Bearer realm="trailblaze"${isTried ? ', error="invalid_token"' : ""}`;
  const message = isTried
    ? "The token is not one that is valid now. TRAILBLAZE_SESSION_TOKEN holds yours."
    : "Send `Authorization: Bearer` with the value of TRAILBLAZE_SESSION_TOKEN.";
  return createError(message, 401, { "www-authenticate": challenge });
}

function refuseType(head: RequestHead): Answer | undefined {
  const encodings = head.headerValues("content-encoding");
  if (encodings.some((encoding) => encoding.toLowerCase() !== "identity")) {
    return createError("The body must not be compressed.", 415, { "accept-encoding": "identity" });
  }
  if (!json.test(onlyValue(head, "content-type") ?? "")) {
    return createError("The body must be application/json in UTF-8.", 415);
  }
  return undefined;
}

/** All that is checked before a byte of the body is read, in the order that the documentation gives. */
export function checkHead(
  head: RequestHead,
  port: number,
  findAccess: (token: string) => Access | undefined,
): { refusal: Answer } | { access: Access } {
  const misplaced = refusePlace(head, port);
  if (misplaced !== undefined) return { refusal: misplaced };
  const token = bearer.exec(onlyValue(head, "authorization") ?? "")?.[1];
  const access = token === undefined ? undefined : findAccess(token);
  if (access === undefined) return { refusal: refuseAccess(head.headerValues("authorization").length > 0) };
  const mistyped = refuseType(head);
  return mistyped === undefined ? { access } : { refusal: mistyped };
}
