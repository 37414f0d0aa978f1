import { isRecord, parseJson } from "../../data/parse-json.ts";
import type { RegistryAnswer, RegistryClient } from "./registry-client.ts";
import type { ResponseCache } from "./response-cache.ts";

export interface ReaderLimits {
  /** The timeout of one request. */
  timeoutMs: number;
  /** The limit on the total waits that a registry may request before retries. */
  maximumWaitMs: number;
  /** The timeout of all requests together. */
  deadlineMs: number;
}

export const defaultLimits: ReaderLimits = { timeoutMs: 20_000, maximumWaitMs: 30_000, deadlineMs: 180_000 };

export interface ReaderOptions {
  client: RegistryClient;
  cache: ResponseCache;
  /** `refresh` ignores the cache; `offline` makes no requests. */
  mode: "normal" | "refresh" | "offline";
  limits: ReaderLimits;
  signal?: AbortSignal | undefined;
}

/** The result of reading a document. Reasons continue after the registry's address. */
export type RegistryRead =
  | { state: "read"; value: Readonly<Record<string, unknown>> }
  | { state: "absent" }
  | { state: "failed"; reason: string };

export interface ReadOptions {
  isOptional?: boolean;
  isExpected?: (value: Readonly<Record<string, unknown>>) => boolean;
}

const isAny = () => true;

/** The wait before a retry if the registry does not specify one. */
const usualWaitMs = 1000;
const maximumAttempts = 4;

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener("abort", finish);
    if (signal.aborted) finish();
  });
}

/** The state of one registry. */
interface RegistryState {
  /** The reason why no more requests are sent. */
  downBecause: string | undefined;
  /** The time of the next request, by `performance.now()`. */
  notBefore: number;
}

/**
 * Reads JSON documents from registries through a cache, which it revalidates with ETags and uses if a registry is
 * unavailable. Sends no more requests to a registry that does not answer.
 */
export class RegistryReader {
  readonly #options: ReaderOptions;
  readonly #signal: AbortSignal;
  readonly #states = new Map<string, RegistryState>();
  /** The first failure of each registry, as a reason by address. */
  readonly failures = new Map<string, string>();
  /** Whether any registry sent a useful response, including "not modified". */
  reachedNetwork = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
    const deadline = AbortSignal.timeout(options.limits.deadlineMs);
    this.#signal = options.signal === undefined ? deadline : AbortSignal.any([options.signal, deadline]);
  }

  #stateOf(address: string): RegistryState {
    let state = this.#states.get(address);
    if (state === undefined) {
      state = { downBecause: undefined, notBefore: 0 };
      this.#states.set(address, state);
    }
    return state;
  }

  /** Sends a request, and retries it within the limits if the registry is busy. */
  async #send(address: string, path: string, maximumBytes: number, etag: string | undefined) {
    const { client, limits } = this.#options;
    const state = this.#stateOf(address);
    let waitedMs = 0;
    for (let attempt = 1; ; attempt++) {
      const pause = state.notBefore - performance.now();
      if (pause > 0) {
        waitedMs += pause;
        await wait(pause, this.#signal);
      }
      if (state.downBecause !== undefined) return fail(state.downBecause);
      if (this.#signal.aborted) return fail("exceeds the total timeout");
      const answer = await client.get({
        address,
        path,
        etag,
        maximumBytes,
        timeoutMs: limits.timeoutMs,
        signal: this.#signal,
      });
      if (answer.state !== "busy") {
        if (answer.state === "failed" && answer.isDown) state.downBecause = answer.reason;
        return answer;
      }
      const askedMs = answer.retryAfterMs ?? usualWaitMs * 2 ** (attempt - 1);
      if (attempt === maximumAttempts || waitedMs + askedMs > limits.maximumWaitMs) {
        state.downBecause = `is rate-limiting requests: retry in ${Math.ceil(askedMs / 1000)} s (429)`;
        return fail(state.downBecause);
      }
      // Concurrent requests wait as well.
      state.notBefore = Math.max(state.notBefore, performance.now() + askedMs);
    }
  }

  /**
   * Reads an object below a registry's address. Unexpected documents, according to `isExpected`, are failures of the
   * registry and are not cached. Never rejects. Optional reads record no failures.
   */
  async read(
    address: string,
    path: string,
    maximumBytes: number,
    { isOptional = false, isExpected = isAny }: ReadOptions = {},
  ): Promise<RegistryRead> {
    const { client, cache, mode } = this.#options;
    const key = `${client.show(address)}${path}`;
    const cached = cache.read(key);
    const fromCache = (): RegistryRead | undefined => {
      const value = cached === undefined ? undefined : parseText(cached.text);
      return isRecord(value) && isExpected(value) ? { state: "read", value } : undefined;
    };
    const fail = (reason: string): RegistryRead => {
      if (!isOptional && !this.failures.has(address)) this.failures.set(address, reason);
      return fromCache() ?? { state: "failed", reason };
    };
    if (mode === "offline") return fail("was not contacted, and the cache has no response");

    const etag = mode === "refresh" ? undefined : cached?.etag;
    const answer: RegistryAnswer = await this.#send(address, path, maximumBytes, etag);
    switch (answer.state) {
      case "absent":
        this.reachedNetwork = true;
        return answer;
      case "unchanged":
        this.reachedNetwork = true;
        return fromCache() ?? fail('sent "not modified" without a cached response');
      case "read": {
        const text = Buffer.from(answer.bytes).toString("utf8");
        const value = parseText(text);
        if (value === undefined) return fail("sent an invalid JSON response");
        if (!isRecord(value) || !isExpected(value)) return fail("sent an unexpected response");
        this.reachedNetwork = true;
        cache.write({ address: key, etag: answer.etag, text });
        return { state: "read", value };
      }
      case "busy":
      case "failed":
        return fail(answer.state === "failed" ? answer.reason : "is rate-limiting requests");
    }
  }
}

const fail = (reason: string): RegistryAnswer => ({ state: "failed", reason, isDown: true });

/** Parses JSON; `undefined` if it is not valid. */
function parseText(text: string): unknown {
  try {
    return parseJson(text).value;
  } catch {
    return undefined;
  }
}
