import { isRecord, parseJson } from "../../data/parse-json.ts";
import type { RegistryAnswer, RegistryClient } from "./registry-client.ts";
import type { ResponseCache } from "./response-cache.ts";

export interface ReaderLimits {
  /** For one answer. */
  timeoutMs: number;
  /** The longest that a registry may tell to wait before asking again, all waits of a request together. */
  maximumWaitMs: number;
  /** For everything together. */
  deadlineMs: number;
}

export const defaultLimits: ReaderLimits = { timeoutMs: 20_000, maximumWaitMs: 30_000, deadlineMs: 180_000 };

export interface ReaderOptions {
  client: RegistryClient;
  cache: ResponseCache;
  /** `refresh` asks for everything anew; `offline` asks nobody. */
  mode: "normal" | "refresh" | "offline";
  limits: ReaderLimits;
  signal?: AbortSignal | undefined;
}

/** What reading gave. Reasons go on from the registry's address. */
export type RegistryRead =
  | { state: "read"; value: Readonly<Record<string, unknown>> }
  | { state: "absent" }
  | { state: "failed"; reason: string };

export interface ReadOptions {
  isOptional?: boolean;
  isExpected?: (value: Readonly<Record<string, unknown>>) => boolean;
}

const isAny = () => true;

/** A registry that says "later" without a time is asked again after this. */
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

/** What is known of one registry while it is read. */
interface RegistryState {
  /** Why it is asked no more. */
  downBecause: string | undefined;
  /** By `performance.now()`: before, nobody asks. */
  notBefore: number;
}

/**
 * Reads JSON documents from registries, through a cache: what is in it is asked for with its ETag, and stands in where
 * a registry cannot be asked. One that does not answer is not asked again.
 */
export class RegistryReader {
  readonly #options: ReaderOptions;
  readonly #signal: AbortSignal;
  readonly #states = new Map<string, RegistryState>();
  /** Why each registry was not asked, or not with success, by address. */
  readonly faults = new Map<string, string>();
  /** Whether any registry told something of use, if only that nothing has changed. */
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

  /** Asks until there is an answer other than "later", as long as waiting may take. */
  async #ask(address: string, path: string, maximumBytes: number, etag: string | undefined) {
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
      if (this.#signal.aborted) return fail("takes too long altogether");
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
        state.downBecause = `wants fewer requests, and to be asked again in ${Math.ceil(askedMs / 1000)} s (429)`;
        return fail(state.downBecause);
      }
      // Those that are asked at the same time wait as well.
      state.notBefore = Math.max(state.notBefore, performance.now() + askedMs);
    }
  }

  /**
   * Reads a map below a registry's address, one that `isExpected`: anything else is a fault of the registry, and takes
   * no place in the cache. Never rejects. What is optional leaves no fault behind.
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
      if (!isOptional && !this.faults.has(address)) this.faults.set(address, reason);
      return fromCache() ?? { state: "failed", reason };
    };
    if (mode === "offline") return fail("was not asked, and the cache has nothing of it");

    const etag = mode === "refresh" ? undefined : cached?.etag;
    const answer: RegistryAnswer = await this.#ask(address, path, maximumBytes, etag);
    switch (answer.state) {
      case "absent":
        this.reachedNetwork = true;
        return answer;
      case "unchanged":
        this.reachedNetwork = true;
        return fromCache() ?? fail("says that nothing has changed, but there was nothing");
      case "read": {
        const text = Buffer.from(answer.bytes).toString("utf8");
        const value = parseText(text);
        if (value === undefined) return fail("sends what is no JSON");
        if (!isRecord(value) || !isExpected(value)) return fail("answers with something else");
        this.reachedNetwork = true;
        cache.write({ address: key, etag: answer.etag, text });
        return { state: "read", value };
      }
      case "busy":
      case "failed":
        return fail(answer.state === "failed" ? answer.reason : "wants to be asked later");
    }
  }
}

const fail = (reason: string): RegistryAnswer => ({ state: "failed", reason, isDown: true });

/** The value of a JSON text; `undefined` where it is none. */
function parseText(text: string): unknown {
  try {
    return parseJson(text).value;
  } catch {
    return undefined;
  }
}
