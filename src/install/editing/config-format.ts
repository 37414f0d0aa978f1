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

/** One way to write a config. */
export interface ConfigEditor {
  /** Of a text that it can edit in some ten seconds, in UTF-16 code units. */
  readonly maximumLength: number;
  /** How an empty container is written where its former text is unknown. */
  readonly emptyText: string;
  /** Parses a text without byte order mark. Throws `ConfigSyntaxError`. */
  open(text: string): ConfigLayout;
}

/**
 * Where things stand in a parsed text. Each edit says where to cut and what to put there; it is checked by parsing what comes
 * out, so there may be several ways, the best first.
 */
export interface ConfigLayout {
  /** The whole as a plain value; `undefined` for a text without any. */
  readonly value: PlainValue;
  /** Where the value at a path begins, for messages. */
  offsetOf(path: readonly string[]): number;
  add(place: EntryPlace, entry: JsonRecord): Splice[][];
  remove(place: EntryPlace): Splice[][];
  /** Writes an entry in the place of another one: by one splice for all of that, its key included, unless it is scattered. */
  replace(place: EntryPlace, entry: JsonRecord): Splice[][];
  /** The value of an empty container as it is written, with what separates it from its key. */
  rawEmpty(container: readonly string[]): string | undefined;
  /** Writes an empty container as it was before. */
  restoreEmpty(container: readonly string[], raw: string): Splice[][];
}
