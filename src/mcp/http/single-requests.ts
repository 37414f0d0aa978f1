import type { Answer, StreamedAnswer } from "./http-answers.ts";
import type { HttpSession } from "./http-session.ts";
import type { Request, RequestRouter } from "./http-sessions.ts";

/** Gives each request a session of its own (`--stateless`): nothing is kept between requests. */
export class SingleRequests implements RequestRouter {
  readonly #open: (onEnd: (session: HttpSession) => void) => HttpSession;
  readonly #all = new Set<HttpSession>();

  constructor(open: (onEnd: (session: HttpSession) => void) => HttpSession) {
    this.#open = open;
  }

  admit(): undefined {
    return undefined;
  }

  async handle({ head, message, signal }: Request): Promise<Answer | StreamedAnswer> {
    const session = this.#open((ended) => this.#all.delete(ended));
    this.#all.add(session);
    try {
      await session.connect();
      const answer = await session.handle(head, message, signal);
      if (!("stream" in answer)) {
        void session.end();
        return answer;
      }
      const onEnd = () => {
        answer.onEnd();
        void session.end();
      };
      return { ...answer, onEnd };
    } catch (error) {
      void session.end();
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((session) => session.end()));
  }
}
