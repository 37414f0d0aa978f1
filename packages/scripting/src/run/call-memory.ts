import { isObject } from "../context-from.ts";
import type { SessionMemory } from "../handlers.ts";
import type { CallToolResult } from "../results.ts";

/** A call's view of the session's memory: the values sent with the call, and its own writes over them. */
export class CallMemory implements SessionMemory {
  readonly #known: ReadonlyMap<string, unknown>;
  readonly #written = new Map<string, string | undefined>();

  constructor(known: Readonly<Record<string, unknown>>) {
    this.#known = new Map(Object.entries(known));
  }

  get(name: string): unknown {
    return this.#written.has(name) ? this.#written.get(name) : this.#known.get(name);
  }

  set(name: string, value: string): void {
    if (typeof name !== "string" || typeof value !== "string") {
      throw new TypeError("Keys and values of memory must be strings.");
    }
    this.#written.set(name, value);
  }

  delete(name: string): boolean {
    const had = this.get(name) !== undefined;
    this.#written.set(name, undefined);
    return had;
  }

  /**
   * Adds the writes to the metadata of a successful result. Valid entries that the handler itself set there take
   * precedence.
   */
  writeBack(result: CallToolResult): CallToolResult {
    if (result.isError === true || this.#written.size === 0) return result;
    const said: unknown = result._meta?.trailblaze;
    const kept = isObject(said) ? said : {};
    const delta = new Map(Object.entries(isObject(kept.memoryDelta) ? kept.memoryDelta : {}));
    const deletions = new Set<unknown>(Array.isArray(kept.memoryDeletions) ? kept.memoryDeletions : []);
    for (const [name, value] of this.#written) {
      if (delta.has(name) || deletions.has(name)) continue;
      if (value === undefined) deletions.add(name);
      else delta.set(name, value);
    }
    const trailblaze: { [detail: string]: unknown } = { ...kept };
    if (delta.size > 0) trailblaze.memoryDelta = Object.fromEntries(delta);
    if (deletions.size > 0) trailblaze.memoryDeletions = [...deletions];
    return { ...result, _meta: { ...result._meta, trailblaze } };
  }
}
