import { setTimeout as sleep } from "node:timers/promises";
import { atMost } from "../../runtime/abort-listeners.ts";
import { methodOf, requestIdOf } from "../client-message.ts";
import { ending } from "./answers.ts";
import type { Answer, StreamedAnswer } from "./http-answers.ts";

/** How long no request may come before a server that is probed leaves: its proxy may not know yet. Milliseconds. */
const quietMs = 500;

/** Counts the requests under way, and refuses new ones once the server ends. */
export class Drain {
  isEnding = false;
  readonly #isProbed: boolean;
  #underWay = 0;
  #lastRequest = 0;
  #whenIdle = () => {};

  /** `isProbed`: a proxy learns from probes that the server ends, and may send requests until then. */
  constructor(isProbed: boolean) {
    this.#isProbed = isProbed;
  }

  /** Refuses a stream of notifications, which would end with the server at once. */
  admit(method: string): Answer | undefined {
    return this.isEnding && method === "GET" ? ending() : undefined;
  }

  /** Runs `handle`, unless the server ends and the message is a request. Others belong to requests that are under way. */
  async run(
    message: unknown,
    handle: () => Promise<Answer | StreamedAnswer>,
  ): Promise<Answer | StreamedAnswer> {
    const id = requestIdOf(message);
    if (id === undefined) return handle();
    this.#lastRequest = performance.now();
    if (this.isEnding) return ending(id);
    // It would never end by itself.
    if (methodOf(message) === "subscriptions/listen") return handle();
    this.#underWay++;
    const end = () => {
      this.#underWay--;
      if (this.#underWay === 0) this.#whenIdle();
    };
    try {
      return { ...(await handle()), onSent: end };
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Refuses new requests. Resolves when none is under way, at the latest after `limitMs`. */
  async wait(limitMs: number): Promise<void> {
    this.isEnding = true;
    await atMost(this.#untilIdle(), limitMs);
  }

  async #untilIdle(): Promise<void> {
    if (this.#underWay > 0) {
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve;
      });
    }
    if (!this.#isProbed) return;
    let restMs = quietMs;
    while (restMs > 0) {
      await sleep(restMs, undefined, { ref: false });
      restMs = this.#lastRequest + quietMs - performance.now();
    }
  }
}
