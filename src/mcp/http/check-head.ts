// What both endpoints check before the body of a request.
import { type Refusal, type RequestHead, refuseMethod } from "./http-server.ts";

export const valuesOf = (head: RequestHead, name: string): readonly string[] => head.headers[name] ?? [];

/** The only value of a header; `undefined` if it is missing or repeated, because one of several may be forged. */
export function onlyValue(head: RequestHead, name: string): string | undefined {
  const values = valuesOf(head, name);
  return values.length === 1 ? values[0] : undefined;
}

export function checkPath({ target }: RequestHead, path: string): Refusal | undefined {
  if (target.split("?", 1)[0] === path) return undefined;
  return { status: 404, message: `Not found. The only path is ${path}.` };
}

export const checkMethod = ({ method }: RequestHead, methods: readonly string[]): Refusal | undefined =>
  methods.includes(method) ? undefined : refuseMethod(methods);

export function checkEncoding(head: RequestHead): Refusal | undefined {
  if (valuesOf(head, "content-encoding").every((encoding) => encoding.toLowerCase() === "identity"))
    return undefined;
  const headers = { "accept-encoding": "identity" };
  return { status: 415, message: "Compressed bodies are not supported.", headers };
}

/** What a bearer token allows, or why it is refused. `find` takes the same time for each token. */
export function checkToken<Access>(
  head: RequestHead,
  find: (token: string) => Access | undefined,
  messages: { missing: string; invalid: string },
): { access: Access } | { refusal: Refusal } {
  const [, token] = /^Bearer +([\x21-\x7e]+)$/i.exec(onlyValue(head, "authorization") ?? "") ?? [];
  const access = token === undefined ? undefined : find(token);
  if (access !== undefined) return { access };
  const isTried = valuesOf(head, "authorization").length > 0;
  return { refusal: refuseToken(isTried ? messages.invalid : messages.missing, isTried) };
}

/** `isTried`: the request has a token, but an invalid one. */
export function refuseToken(message: string, isTried: boolean): Refusal {
  const challenge = `Bearer realm="trailblaze"${isTried ? ', error="invalid_token"' : ""}`;
  return { status: 401, message, headers: { "www-authenticate": challenge } };
}
