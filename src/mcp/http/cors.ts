import { readOrigin } from "./allowed-hosts.ts";
import type { Answer, RequestHead, StreamedAnswer } from "./http-answers.ts";

/** What a page may read besides the body. */
const exposed = "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After";
const headerNames = /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/;

/** Lets pages of origins that the operator has named read answers. Others, the server's own included, get no permission. */
export class CrossOrigins {
  readonly #origins: ReadonlySet<string | undefined>;
  readonly #hosts: ReadonlySet<string>;

  constructor(allowedOrigins: readonly string[], allowedHosts: readonly string[]) {
    this.#origins = new Set(allowedOrigins.map(readOrigin));
    this.#hosts = new Set(allowedHosts.map((host) => host.toLowerCase()));
  }

  /** The origin of a page that may read the answer. */
  find(head: RequestHead): string | undefined {
    const [origin = "", another] = head.headerValues("origin");
    if (another !== undefined || readOrigin(origin) !== origin) return undefined;
    const { host, hostname } = URL.canParse(origin) ? new URL(origin) : {};
    const isNamed = this.#origins.has(origin) || [host, hostname].some((name) => this.#hosts.has(name ?? ""));
    return isNamed ? origin : undefined;
  }

  /** The answer to the question of a browser whether a page may send a request. */
  answerPreflight(head: RequestHead, methods: readonly string[]): Answer | undefined {
    const isAsked = head.headerValues("access-control-request-method").length > 0;
    if (head.method !== "OPTIONS" || !isAsked || this.find(head) === undefined) return undefined;
    const asked = head.headerValues("access-control-request-headers").join(", ");
    const isPrivate = head.headerValues("access-control-request-private-network").includes("true");
    return {
      status: 204,
      body: "",
      headers: {
        "access-control-allow-methods": methods.join(", "),
        ...(headerNames.test(asked) ? { "access-control-allow-headers": asked } : {}),
        ...(isPrivate ? { "access-control-allow-private-network": "true" } : {}),
        "access-control-max-age": "600",
      },
    };
  }

  /** The same answer, readable for the page that gets it. */
  permit<Sent extends Answer | StreamedAnswer>(head: RequestHead, answer: Sent): Sent {
    const origin = this.find(head);
    if (origin === undefined) return answer;
    const permission = {
      "access-control-allow-origin": origin,
      "access-control-expose-headers": exposed,
      vary: "Origin",
    };
    return { ...answer, headers: { ...answer.headers, ...permission } };
  }
}
