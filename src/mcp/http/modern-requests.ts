import { requestIdOf, rpcCode } from "../client-message.ts";
import type { ModernHttpServer } from "../protocol-server.ts";
import { isModern, isOfModernClient } from "../revisions.ts";
import { refusal } from "./answers.ts";
import { type Answer, headersIn, type RequestHead, type StreamedAnswer, toAnswer } from "./http-answers.ts";
import type { Request as HttpRequest, RequestRouter } from "./http-sessions.ts";

/** The headers that the protocol may see: no token, no cookie. */
const headersOfProtocol = ["accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name"];

/** Answers each request of a modern client on its own. */
export class ModernRequests implements RequestRouter {
  readonly #load: () => Promise<ModernHttpServer>;
  #server: Promise<ModernHttpServer> | undefined;

  /** `load` is called with the first request. */
  constructor(load: () => Promise<ModernHttpServer>) {
    this.#load = load;
  }

  admit(): undefined {
    return undefined;
  }

  async handle({ head, message, signal }: HttpRequest): Promise<Answer | StreamedAnswer> {
    this.#server ??= this.#load().catch((error) => {
      this.#server = undefined;
      throw error;
    });
    const server = await this.#server;
    const headers = headersIn(head, [...headersOfProtocol, ...(await server.headersOf(message))]);
    // The SDK requires a URL but does not use it.
    const request = new Request("http://localhost/mcp", { method: "POST", headers, signal });
    return toAnswer(await server.answer(request, message), () => {});
  }

  async close(): Promise<void> {
    await (await this.#server)?.close();
  }
}

/** Whether the header says that a request is of a modern client. */
const hasModernHeader = (head: RequestHead): boolean =>
  head.headerValues("mcp-protocol-version").some(isModern);

/** Serves requests of modern clients on their own, and all others in sessions. */
export class DualRouter implements RequestRouter {
  readonly #legacy: RequestRouter;
  readonly #modern: RequestRouter;
  readonly #protocol: "both" | "legacy";

  /** With the protocol `legacy`, modern clients are refused. */
  constructor(legacy: RequestRouter, modern: RequestRouter, protocol: "both" | "legacy") {
    this.#legacy = legacy;
    this.#modern = modern;
    this.#protocol = protocol;
  }

  admit(head: RequestHead): Answer | undefined {
    // The session of a modern request is ignored, and its body may be all that says so.
    return head.method === "POST" ? undefined : this.#legacy.admit(head);
  }

  async handle(request: HttpRequest): Promise<Answer | StreamedAnswer> {
    const { head, message } = request;
    const isPost = head.method === "POST";
    if (isPost && (isOfModernClient(message) || hasModernHeader(head))) {
      if (this.#protocol === "both") return this.#modern.handle(request);
      // Without a code of the modern revisions, so that clients fall back to `initialize`.
      const text = "Only clients of revisions up to 2025-11-25 are served. Start with `initialize`.";
      return refusal(400, text, { code: rpcCode.refused, id: requestIdOf(message) });
    }
    return (isPost ? this.#legacy.admit(head) : undefined) ?? this.#legacy.handle(request);
  }

  async close(): Promise<void> {
    await Promise.all([this.#legacy.close(), this.#modern.close()]);
  }
}
