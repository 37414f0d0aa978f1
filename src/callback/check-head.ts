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

/** Refuses browsers, which send an Origin, or a host name that resolves to this machine. */
function checkPlace(head: RequestHead, port: number): HeadRefusal | undefined {
  if (head.headerValues("origin").length > 0) {
    return {
      status: 403,
      message: "Requests with an Origin header are refused: browsers may not call back.",
    };
  }
  const host = onlyValue(head, "host")?.toLowerCase();
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`) {
    return { status: 403, message: "The Host header does not match this endpoint." };
  }
  return checkPath(head, "/scripting/callback") ?? checkMethod(head, ["POST"]);
}

function checkType(head: RequestHead): HeadRefusal | undefined {
  if (json.test(onlyValue(head, "content-type") ?? "")) return undefined;
  return { status: 415, message: "The Content-Type must be application/json in UTF-8." };
}

const refuse = ({ status, message, headers }: HeadRefusal): Answer => createError(message, status, headers);

/** `isTried`: the request has a token, but an invalid one. */
export const refuseToken = (isTried: boolean): Answer =>
  refuse(
    refuseAccess(isTried, {
      missing: "A token is required: send TRAILBLAZE_SESSION_TOKEN as `Authorization: Bearer <token>`.",
      invalid: "The token is invalid or was revoked. Send the value of TRAILBLAZE_SESSION_TOKEN.",
    }),
  );

/** Checks everything before the body, in the documented order. */
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
