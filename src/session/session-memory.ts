import type { HandlerMemory } from "../execution/handler-context.ts";

/** What stands for a sensitive text wherever it would be written down. */
export const redacted = "[redacted]";

/** A session's memory: texts by key. Like a `Map`, and knows which keys are not to leave the process. */
export class SessionMemory extends Map<string, string> {
  readonly #sensitive: ReadonlySet<string>;

  constructor(entries: Iterable<readonly [string, string]>, sensitive: Iterable<string>) {
    super();
    this.#sensitive = new Set(sensitive);
    for (const [key, value] of entries) this.set(key, value);
  }

  override set(key: string, value: string): this {
    if (typeof key !== "string" || typeof value !== "string") {
      throw new TypeError("Memory holds texts by keys that are texts.");
    }
    return super.set(key, value);
  }

  isSensitive(key: string): boolean {
    return this.#sensitive.has(key);
  }

  /** What a tool may see, as an object for an envelope. `visible` are the keys its pack may see; default: all. */
  snapshot(visible?: readonly string[] | undefined): Record<string, string> {
    const shown = [...this].filter(
      ([key]) => !this.#sensitive.has(key) && (visible === undefined || visible.includes(key)),
    );
    return Object.fromEntries(shown);
  }

  /** The values of the sensitive keys. */
  secrets(): string[] {
    return [...this.#sensitive].flatMap((key) => this.get(key) || []);
  }

  /** A copy of JSON data in which no text holds the value of a sensitive key. */
  redact<Value>(value: Value): Value {
    const secrets = this.secrets();
    return secrets.length === 0 ? value : (redactTexts(value, secrets) as Value);
  }
}

/** Shorter texts are part of too many others; they are taken out only where they are all there is. */
const shortestPart = 4;

function redactTexts(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === "string") {
    let text = value;
    for (const secret of secrets) {
      if (text === secret) return redacted;
      if (secret.length >= shortestPart) text = text.replaceAll(secret, redacted);
    }
    return text;
  }
  if (Array.isArray(value)) return value.map((entry) => redactTexts(entry, secrets));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [
      redactTexts(key, secrets) as string,
      redactTexts(entry, secrets),
    ]),
  );
}

/** A call's own view of the memory: reads go through to the session, writes wait for the call's success. */
export class CallMemory implements HandlerMemory {
  readonly #memory: SessionMemory;
  readonly #visible: readonly string[] | undefined;
  readonly #written = new Map<string, string | undefined>();

  constructor(memory: SessionMemory, visible: readonly string[] | undefined) {
    this.#memory = memory;
    this.#visible = visible;
  }

  get(key: string): string | undefined {
    if (this.#written.has(key)) return this.#written.get(key);
    if (this.#memory.isSensitive(key)) return undefined;
    if (this.#visible !== undefined && !this.#visible.includes(key)) return undefined;
    return this.#memory.get(key);
  }

  set(key: string, value: string): void {
    if (typeof key !== "string" || typeof value !== "string") {
      throw new TypeError("Memory holds texts by keys that are texts.");
    }
    this.#written.set(key, value);
  }

  delete(key: string): boolean {
    const had = this.get(key) !== undefined;
    this.#written.set(key, undefined);
    return had;
  }

  snapshot(): Record<string, string> {
    const seen = new Map(Object.entries(this.#memory.snapshot(this.#visible)));
    for (const [key, value] of this.#written) {
      if (value === undefined) seen.delete(key);
      else seen.set(key, value);
    }
    return Object.fromEntries(seen);
  }

  /** Makes the writes the session's. */
  commit(): void {
    for (const [key, value] of this.#written) {
      if (value === undefined) this.#memory.delete(key);
      else this.#memory.set(key, value);
    }
    this.#written.clear();
  }
}
