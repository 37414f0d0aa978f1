import type { SessionMemory } from "./session-memory.ts";
import type { RecordedCall } from "./session-tool.ts";

/** The calls that a session records. It keeps them as JSON until somebody reads them. */
export class Recording {
  readonly #memory: SessionMemory;
  readonly #calls: RecordedCall[] = [];
  /** Advertised name and JSON of the arguments, in turn. */
  #unread: string[] = [];

  constructor(memory: SessionMemory) {
    this.#memory = memory;
  }

  /** `json`: the arguments. */
  add(name: string, json: string): void {
    const isSecret = this.#memory.secrets().length > 0;
    this.#unread.push(name, isSecret ? JSON.stringify(this.#memory.redact(JSON.parse(json))) : json);
  }

  /** In order of their ends; always the same array, which this brings up to date. */
  get calls(): readonly RecordedCall[] {
    const unread = this.#unread;
    this.#unread = [];
    for (let at = 0; at < unread.length; at += 2) {
      const [name = "", json = "{}"] = unread.slice(at, at + 2);
      this.#calls.push({ [name]: JSON.parse(json) });
    }
    return this.#calls;
  }
}
