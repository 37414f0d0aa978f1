import type { JsonRecord, PlainValue } from "./config-value.ts";
import type { Splice } from "./splice.ts";

export type ConfigFormatName = "json" | "jsonc" | "toml" | "yaml";

/** Thrown for a text that is not to be touched. `offset` counts UTF-16 code units. */
export class ConfigSyntaxError extends Error {
  override readonly name = "ConfigSyntaxError";
  readonly reason: string;
  readonly offset: number;

  /** `reason` goes on from "it cannot be used:", without a full stop. */
  constructor(reason: string, offset: number) {
    super(reason);
    this.reason = reason;
    this.offset = offset;
  }
}

/** Where an entry stands: the keys that lead to its container, and its own. */
export interface EntryPlace {
  container: readonly string[];
  key: string;
  /** The container is a list, whose entries carry their key as `name`. */
  isList: boolean;
}

/**
 * One way to write a config. Texts come without byte order mark. An editor says where to cut and what to put there; it is
 * checked by parsing what comes out, so each may offer several ways, the best first.
 */
export interface ConfigEditor {
  /** Of a text that it can edit in some ten seconds, in UTF-16 code units. */
  readonly maximumLength: number;
  /** The whole as a plain value; `undefined` for a text without any. Throws `ConfigSyntaxError`. */
  parse(text: string): PlainValue;
  /** Where the value at a path begins, for messages. */
  offsetOf(text: string, path: readonly string[]): number;
  add(text: string, place: EntryPlace, entry: JsonRecord): Splice[][];
  remove(text: string, place: EntryPlace): Splice[][];
  /** The entry as it is written, its key included, for putting it back with `putBack`; `undefined` where it is scattered. */
  rawEntry(text: string, place: EntryPlace): string | undefined;
  /** Writes an entry in the place of another one. */
  replace(text: string, place: EntryPlace, entry: JsonRecord): Splice[][];
  putBack(text: string, place: EntryPlace, raw: string): Splice[][];
  /** The value of an empty container as it is written, with what separates it from its key. */
  rawEmpty(text: string, container: readonly string[]): string | undefined;
  /** How an empty container is written where nobody knows how it was. */
  readonly emptyText: string;
  /** Writes an empty container as it was before. */
  restoreEmpty(text: string, container: readonly string[], raw: string): Splice[][];
  /** Takes out a container, and its key, that has become empty. */
  removeContainer(text: string, container: readonly string[]): Splice[][];
}
