import { createHash, timingSafeEqual } from "node:crypto";
import { printable } from "../../problems/index.ts";
import { type IsOurHost, readOrigin } from "./allowed-hosts.ts";
import type { Answer, RequestHead } from "./http-server.ts";

/** Why a request is refused before its body is read. Each endpoint formats it in its own way. */
export interface HeadRefusal {
  status: number;
  message: string;
  headers?: Readonly<Record<string, string>>;
}

export const digestOf = (token: string): Uint8Array => createHash("sha256").update(token).digest();

const valuesOf = (head: RequestHead, name: string): readonly string[] => head.headers[name] ?? [];

/** The only value of a header; `undefined` if it is missing or repeated, because one of several may be forged. */
export function onlyValue(head: RequestHead, name: string): string | undefined {
  const values = valuesOf(head, name);
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
): { access: Access } | { refusal: HeadRefusal } {
  const [, token] = /^Bearer +([\x21-\x7e]+)$/i.exec(onlyValue(head, "authorization") ?? "") ?? [];
  const access = token === undefined ? undefined : find(token);
  if (access !== undefined) return { access };
  return { refusal: refuseToken(messages, valuesOf(head, "authorization").length > 0) };
}

/** `isTried`: the request has a token, but an invalid one. */
export function refuseToken(
  { missing, invalid }: { missing: string; invalid: string },
  isTried: boolean,
): HeadRefusal {
  const challenge = `Bearer realm="trailblaze"${isTried ? ', error="invalid_token"' : ""}`;
  return {
    status: 401,
    message: isTried ? invalid : missing,
    headers: { "www-authenticate": challenge },
  };
}

/** What a page may read besides the body. */
const exposed = "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After";
const headerNames = /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/;
const tokenMessages = {
  missing: "A token is required: send it as `Authorization: Bearer <token>`.",
  invalid: "The token is invalid.",
};

/** The values of a header for people. Hostile. */
const show = (head: RequestHead, name: string): string => {
  const text = printable(valuesOf(head, name).join(", "));
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
};

export interface HeadCheckOptions {
  isOurHost: IsOurHost;
  allowedHosts: readonly string[];
  /** Origins of pages that may use the server and read its answers. */
  allowedOrigins: readonly string[];
  token: string | undefined;
  path: string;
  methods: readonly string[];
  /** Called with the message for the first request with another Host, and with another Origin. */
  onMisplaced: ((message: string) => void) | undefined;
}

/** What a server checks before the body of a request, and says to pages of other origins. */
export class HeadCheck {
  readonly #options: HeadCheckOptions;
  readonly #origins: ReadonlySet<string | undefined>;
  readonly #hosts: ReadonlySet<string>;
  readonly #digest: Uint8Array | undefined;
  readonly #reported = new Set<string>();

  constructor(options: HeadCheckOptions) {
    this.#options = options;
    this.#origins = new Set(options.allowedOrigins.map(readOrigin));
    this.#hosts = new Set(options.allowedHosts.map((host) => host.toLowerCase()));
    this.#digest = options.token === undefined ? undefined : digestOf(options.token);
  }

  /** Checks Host, Origin, path, token, method and encoding, in this order; a preflight is answered after Host and Origin. */
  refuse(head: RequestHead, port: number): HeadRefusal | undefined {
    const { path, methods } = this.#options;
    const misplaced = this.#checkPlace(head, port);
    if (misplaced !== undefined) return misplaced;
    if (this.#isPreflight(head)) return { status: 204, message: "", headers: this.#answerPreflight(head) };
    return (
      checkPath(head, path) ?? this.#checkToken(head) ?? checkMethod(head, methods) ?? checkEncoding(head)
    );
  }

  /** The same answer, readable for the page that gets it if the operator has named its origin. */
  permit(head: RequestHead, answer: Answer): Answer {
    const origin = this.#findOrigin(head);
    if (origin === undefined) return answer;
    const permission = {
      "access-control-allow-origin": origin,
      "access-control-expose-headers": exposed,
      vary: "Origin",
    };
    return { ...answer, headers: { ...answer.headers, ...permission } };
  }

  #checkToken(head: RequestHead): HeadRefusal | undefined {
    const digest = this.#digest;
    if (digest === undefined) return undefined;
    const find = (token: string) => timingSafeEqual(digestOf(token), digest) || undefined;
    const checked = checkToken(head, find, tokenMessages);
    return "refusal" in checked ? checked.refusal : undefined;
  }

  /** The messages say how to allow what they refuse. */
  #checkPlace(head: RequestHead, port: number): HeadRefusal | undefined {
    const { isOurHost, onMisplaced } = this.#options;
    const refuse = (header: string, message: string) => {
      if (!this.#reported.has(header)) onMisplaced?.(message);
      this.#reported.add(header);
      return { status: 403, message };
    };
    if (!isOurHost(onlyValue(head, "host") ?? "", port, 80)) {
      const message = `The Host header "${show(head, "host")}" is not a name of this server. If clients use this name, pass it with --allowed-host.`;
      return refuse("host", message);
    }
    const isOurs = (origin: string) => {
      const [, scheme, host = ""] = /^(https?):\/\/([^/?#@\\]+)$/i.exec(origin) ?? [];
      return scheme !== undefined && isOurHost(host, port, scheme.toLowerCase() === "https" ? 443 : 80);
    };
    if (this.#findOrigin(head) === undefined && !valuesOf(head, "origin").every(isOurs)) {
      const message = `The Origin header "${show(head, "origin")}" is not an origin of this server. If a page of it may use the server, pass it with --allowed-origin.`;
      return refuse("origin", message);
    }
    return undefined;
  }

  /** The origin of a page that may read the answer. Others, the server's own included, get no permission. */
  #findOrigin(head: RequestHead): string | undefined {
    const origin = onlyValue(head, "origin");
    if (origin === undefined || readOrigin(origin) !== origin) return undefined;
    const { host, hostname } = URL.canParse(origin) ? new URL(origin) : {};
    const isNamed = this.#origins.has(origin) || [host, hostname].some((name) => this.#hosts.has(name ?? ""));
    return isNamed ? origin : undefined;
  }

  /** Whether a browser asks if a page may send a request. */
  #isPreflight(head: RequestHead): boolean {
    const isAsked = valuesOf(head, "access-control-request-method").length > 0;
    return head.method === "OPTIONS" && isAsked && this.#findOrigin(head) !== undefined;
  }

  #answerPreflight(head: RequestHead): Record<string, string> {
    const asked = valuesOf(head, "access-control-request-headers").join(", ");
    const isPrivate = valuesOf(head, "access-control-request-private-network").includes("true");
    return {
      "access-control-allow-methods": this.#options.methods.join(", "),
      ...(headerNames.test(asked) ? { "access-control-allow-headers": asked } : {}),
      ...(isPrivate ? { "access-control-allow-private-network": "true" } : {}),
      "access-control-max-age": "600",
    };
  }
}
