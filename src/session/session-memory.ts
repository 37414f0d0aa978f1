import type { SessionConfig } from "../config/session-config.ts";
import { ownEntry } from "../lock/json.ts";
import { createRedactor, type Redactor } from "../runtime/redact.ts";

/**
 * A session's memory: a `Map` of strings that knows which keys are sensitive. Every value that a sensitive key ever had
 * is a secret until the session ends.
 */
export class SessionMemory extends Map<string, string> {
  readonly #sensitive: Set<string>;
  readonly #secrets: Set<string>;
  #sorted: readonly string[] = [];
  /** For strings and streams. It uses the secrets of the moment. */
  readonly redactor: Redactor = createRedactor(() => this.secrets());

  /** `shared`: the memory of the session that starts the processes. It knows every secret, to redact their logs. */
  constructor(
    entries: Iterable<readonly [string, string]>,
    sensitive: Iterable<string>,
    shared?: SessionMemory,
  ) {
    super();
    this.#secrets = shared === undefined ? new Set() : shared.#secrets;
    this.#sensitive = new Set(sensitive);
    for (const [key, value] of entries) this.set(key, value);
  }

  override set(key: string, value: string): this {
    this.noteSecret(key, value);
    return super.set(key, value);
  }

  write(key: string, value: string | undefined): void {
    if (value === undefined) this.delete(key);
    else this.set(key, value);
  }

  /** Makes further keys sensitive. Keys stay sensitive until the session ends. */
  addSensitive(keys: Iterable<string>): void {
    for (const key of keys) {
      this.#sensitive.add(key);
      const value = this.get(key);
      if (value !== undefined) this.noteSecret(key, value);
    }
  }

  /** Whether a call sees a key. `visible`: the keys that its pack may see; default: all. */
  shows(key: string, visible: readonly string[] | undefined): boolean {
    return !this.#sensitive.has(key) && (visible === undefined || visible.includes(key));
  }

  snapshot(visible: readonly string[] | undefined): Record<string, string> {
    if (this.size === 0) return {};
    return Object.fromEntries([...this].filter(([key]) => this.shows(key, visible)));
  }

  /** Registers the value as a secret if the key is sensitive. Throws a `TypeError` for what is no string. */
  noteSecret(key: string, value: string): void {
    if (typeof key !== "string" || typeof value !== "string")
      throw new TypeError("Keys and values of memory must be strings.");
    if (this.#sensitive.has(key)) this.addSecrets([value]);
  }

  addSecrets(values: readonly string[]): void {
    for (const value of values) if (value !== "") this.#secrets.add(value);
  }

  /** Every value that a sensitive key ever had, longest first; the same array until it changes. */
  secrets(): readonly string[] {
    if (this.#sorted.length !== this.#secrets.size)
      this.#sorted = [...this.#secrets].sort((a, b) => b.length - a.length);
    return this.#sorted;
  }

  /**
   * A redacted copy of JSON data: secrets are replaced in strings and keys, also in the forms of JSON and URLs, as are
   * equal numbers and booleans. A secret of fewer than 4 characters is replaced only as a whole string.
   */
  redact<Value>(value: Value): Value {
    return this.redactor.redactValue(value);
  }
}

/**
 * One call's view of the memory: reads see what the pack of the tool may see of the session's, and what is `written` takes effect
 * when the call succeeds.
 */
export function createCallMemory(memory: SessionMemory, { packs }: SessionConfig, pack: string | undefined) {
  const policy = packs.memory;
  const ofPack = pack === undefined || typeof policy === "string" ? undefined : ownEntry(policy, pack);
  const visible = pack === undefined || policy === "all" ? undefined : (ofPack ?? []);
  const written = new Map<string, string | undefined>();
  return {
    written,
    get: (key: string) => (memory.shows(key, visible) ? memory.get(key) : undefined),
    write(key: string, value: string | undefined) {
      // A call that fails may print the value before it is stored.
      if (value !== undefined) memory.noteSecret(key, value);
      written.set(key, value);
    },
    snapshot: () => memory.snapshot(visible),
  };
}

/** A recorded call: the advertised name, and the arguments of the call. */
export type RecordedCall = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The recording as YAML for `trailblaze run`: an array, so that recordings can be concatenated. */
export async function formatRecording(calls: readonly RecordedCall[]): Promise<string> {
  if (calls.length === 0) return "";
  const { stringify } = await import("yaml");
  return stringify(calls, { lineWidth: 0, aliasDuplicateObjects: false });
}
