import type { JsonRecord, PlainValue } from "./config-value.ts";
import type { Splice } from "./splice.ts";

export type ConfigFormatName = "json" | "jsonc" | "toml" | "yaml";

/** Thrown for a text that must not be edited. `offset` is in UTF-16 code units. */
export class ConfigSyntaxError extends Error {
  override readonly name: string = "ConfigSyntaxError";
  readonly reason: string;
  readonly offset: number;

  /** `reason` continues a message after a colon, without a period. */
  constructor(reason: string, offset: number) {
    super(reason);
    this.reason = reason;
    this.offset = offset;
  }
}

/** Thrown for a valid config in which an entry cannot be edited without changing the rest. */
export class ConfigLayoutError extends ConfigSyntaxError {
  override readonly name = "ConfigLayoutError";
}

/** The place of an entry: the path of its container, and its key. */
export interface EntryPlace {
  container: readonly string[];
  key: string;
  /** The container is an array of TOML whose entries have their key as `name`. */
  isList: boolean;
}

/** A format of configs. */
export interface ConfigEditor {
  /** The longest text that it can edit within about ten seconds, in UTF-16 code units. */
  readonly maximumLength: number;
  /** An entry as text, as in a new file and without a line end. */
  write(place: EntryPlace, entry: JsonRecord): string;
  /** Parses a text without a byte order mark. Throws `ConfigSyntaxError`. */
  open(text: string): ConfigLayout;
}

/**
 * The positions in a parsed text. Each edit returns alternatives, best first: splices whose result is verified by
 * parsing it.
 */
export interface ConfigLayout {
  /** The parsed value; `undefined` for a text without one. */
  readonly value: PlainValue;
  /** The offset of the value at a path, for messages. */
  offsetOf(path: readonly string[]): number;
  add(place: EntryPlace, entry: JsonRecord): Splice[][];
  remove(place: EntryPlace): Splice[][];
  replace(place: EntryPlace, entry: JsonRecord): Splice[][];
}
