import {
  checkEncoding,
  checkMethod,
  checkPath,
  findToken,
  type HeadRefusal,
  hasTriedAccess,
  onlyValue,
  refuseAccess,
} from "../mcp/http/check-head.ts";
import type { Answer, RequestHead } from "../mcp/http/http-answers.ts";
import type { Access } from "./access-tokens.ts";
import { createError } from "./answers.ts";

const json = /^application\/json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?$/i;

/** A browser sends an Origin, or the name it resolved to us, whatever page made it call. */
function checkPlace(head: RequestHead, port: number): HeadRefusal | undefined {
  if (head.headerValues("origin").length > 0) {
    return { status: 403, message: "Requests with an Origin are refused: browsers have no business here." };
  }
  const host = onlyValue(head, "host")?.toLowerCase();
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`) {
    return { status: 403, message: "The Host header is not that of this endpoint." };
  }
  return checkPath(head, "/scripting/callback") ?? checkMethod(head, ["POST"]);
}

function checkType(head: RequestHead): HeadRefusal | undefined {
  if (json.test(onlyValue(head, "content-type") ?? "")) return undefined;
  return { status: 415, message: "The body must be application/json in UTF-8." };
}

const refuse = ({ status, message, headers }: HeadRefusal): Answer => createError(message, status, headers);

/** `isTried`: there was a token, but not a valid one. */
export const refuseToken = (isTried: boolean): Answer =>
  refuse(
    refuseAccess(isTried, {
      missing: "Send `Authorization: Bearer` with the value of TRAILBLAZE_SESSION_TOKEN.",
      invalid: "The token is not one that is valid now. TRAILBLAZE_SESSION_TOKEN holds yours.",
    }),
  );

/** All that is checked before a byte of the body is read, in the order that the documentation gives. */
export function checkHead(
  head: RequestHead,
  port: number,
  findAccess: (token: string) => Access | undefined,
): { refusal: Answer } | { access: Access } {
  const misplaced = checkPlace(head, port);
  if (misplaced !== undefined) return { refusal: refuse(misplaced) };
  const token = findToken(head);
  const access = token === undefined ? undefined : findAccess(token);
  if (access === undefined) return { refusal: refuseToken(hasTriedAccess(head)) };
  const mistyped = checkEncoding(head) ?? checkType(head);
  return mistyped === undefined ? { access } : { refusal: refuse(mistyped) };
}
