import { createRedactor, type Redactor } from "../mcp/client/redact.ts";
import type { HandlerMemory } from "../runtime/handler-context.ts";

/**
 * A session's memory: texts by key. Like a `Map`, and knows which keys are not to leave the process: whatever such a key
 * has ever held is a secret for as long as the session lasts.
 */
export class SessionMemory extends Map<string, string> {
  readonly #sensitive: ReadonlySet<string>;
  readonly #known = new Set<string>();
  #secrets: readonly string[] = [];
  readonly #redactor = createRedactor(() => this.#secrets);

  constructor(entries: Iterable<readonly [string, string]>, sensitive: Iterable<string>) {
    super();
    this.#sensitive = new Set(sensitive);
    for (const [key, value] of entries) this.set(key, value);
  }

  override set(key: string, value: string): this {
    if (typeof key !== "string" || typeof value !== "string") {
      throw new TypeError("Memory holds texts by keys that are texts.");
    }
    this.noteSecret(key, value);
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

  /** Keeps a value secret that a key is about to have, if that is sensitive. */
  noteSecret(key: string, value: string): void {
    if (value === "" || !this.#sensitive.has(key) || this.#known.has(value)) return;
    this.#known.add(value);
    this.#secrets = [...this.#known].sort((a, b) => b.length - a.length);
  }

  /** Every value that a sensitive key has ever had, the longest first; the same list until there is another. */
  secrets(): readonly string[] {
    return this.#secrets;
  }

  /**
   * A copy of JSON data without secrets: in texts and keys also as JSON and addresses write them, and where a number or
   * a boolean reads like one. A secret shorter than 4 characters counts only where it is the whole text.
   */
  redact<Value>(value: Value): Value {
    return this.#redactor.redactValue(value);
  }

  /** The same for text and for streams of it; knows what becomes secret later. */
  createTextRedactor(): Redactor {
    return this.#redactor;
  }
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
    // A call that fails may still say what it was about to keep.
    this.#memory.noteSecret(key, value);
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
