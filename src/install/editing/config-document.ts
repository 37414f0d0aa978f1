import { isDeepStrictEqual } from "node:util";
import { formatLineDiff } from "../../data/line-diff.ts";
import { positionAt } from "../../data/line-index.ts";
import { DataSyntaxError, describeType, isRecord } from "../../data/parse-json.ts";
import { valueAt } from "../../extension-schema/pointer.ts";
import { attempt } from "../../files/file-errors.ts";
import { failure } from "../../problems/index.ts";
import { hideEntry } from "../secrets.ts";
import {
  type ConfigEditor,
  type EditedFormat,
  type EntryPlace,
  type JsonRecord,
  type JsonValue,
  type ParsedConfig,
  toPlain,
} from "./config-format.ts";
import { jsonEditor } from "./json-editor.ts";
import { createTomlEditor } from "./toml-editor.ts";
import { yamlEditor } from "./yaml-editor.ts";

const byteOrderMark = /^\uFEFF?/;

const isEmptyValue = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === "object" && Object.keys(value).length === 0);

const isNamed = (entry: unknown): entry is { name: string } =>
  isRecord(entry) && typeof entry.name === "string";

/** The entries of an object, or of an array whose entries have their keys as `name`. */
export function entriesOf(value: unknown): [string, unknown][] {
  if (!Array.isArray(value)) return isRecord(value) ? Object.entries(value) : [];
  return value.filter(isNamed).map((entry) => [entry.name, entry]);
}

/** A value without an entry, and without the containers that are empty then, which formats write in different ways. */
function without(value: unknown, [key = "", ...below]: readonly string[]): unknown {
  if (Array.isArray(value)) {
    // One entry: another of its name is not the one that was edited.
    const last = value.findLastIndex((entry) => isNamed(entry) && entry.name === key);
    return value.filter((_, index) => index !== last);
  }
  if (!isRecord(value) || !Object.hasOwn(value, key)) return value;
  const { [key]: inner, ...rest } = value;
  const kept = below.length === 0 ? undefined : without(inner, below);
  return isEmptyValue(kept) ? rest : { ...rest, [key]: kept };
}

const countComments = (text: string) => text.match(/#|\/[/*]/g)?.length ?? 0;

const editors: Readonly<Record<EditedFormat, ConfigEditor>> = {
  json: jsonEditor,
  jsonc: jsonEditor,
  toml: createTomlEditor(false),
  tomlList: createTomlEditor(true),
  yaml: yamlEditor,
};

/**
 * A parsed config. An edit returns a new one in which only the entry differs; `undefined` if the layout does not allow that.
 * A text that is invalid, or that has something else in place of an entry's container, is `ClientConfigMalformed`.
 */
export class ConfigDocument {
  readonly text: string;
  readonly root: Record<string, unknown>;
  readonly #file: string;
  readonly #format: EditedFormat;
  readonly #parsed: ParsedConfig;

  constructor(file: string, format: EditedFormat, text: string) {
    this.#file = file;
    this.#format = format;
    this.text = text;
    try {
      this.#parsed = editors[format].open(text.replace(byteOrderMark, ""));
    } catch (error) {
      // Parsers recurse.
      if (error instanceof RangeError) throw this.#malformed("it is nested too deeply");
      if (!(error instanceof DataSyntaxError)) throw error;
      const [reason = ""] = error.reason.split("\n");
      throw this.#malformed(reason.replace(/:$/, ""), error.offset);
    }
    const { value = Object.create(null) } = this.#parsed;
    if (!isRecord(value)) throw this.#malformed(`it must be an object, but it is ${describeType(value)}`, 0);
    this.root = value;
  }

  get #isList(): boolean {
    return editors[this.#format].isList === true;
  }

  #malformed(reason: string, offset?: number) {
    const file = this.#file;
    const place = offset === undefined ? {} : positionAt(this.text.replace(byteOrderMark, ""), offset);
    return failure("ClientConfigMalformed", { file, reason }, { file, ...place });
  }

  /** The entries of a container by their keys. */
  entries(container: readonly string[]): Map<string, unknown> {
    const value = valueAt(this.root, container);
    if (!this.#isList) return new Map(isRecord(value) ? Object.entries(value) : []);
    const list = Array.isArray(value) ? value : [];
    return new Map(list.filter(isNamed).map(({ name, ...entry }) => [name, entry]));
  }

  get({ container, key }: EntryPlace): unknown {
    for (const [index, name] of container.entries()) {
      const path = container.slice(0, index + 1);
      const value = valueAt(this.root, path);
      if (value === undefined || value === null) break;
      const isInList = this.#isList && path.length === container.length;
      if (isInList ? Array.isArray(value) : isRecord(value)) continue;
      const fault = `must be ${isInList ? "an array" : "an object"}, but it is ${describeType(value)}`;
      throw this.#malformed(`its ${JSON.stringify(name)} ${fault}`, this.#parsed.offsetOf(path));
    }
    return this.entries(container).get(key);
  }

  /** The first alternative in which the entry has a value and everything else is as before. */
  #verify(texts: readonly string[], place: EntryPlace, entry: unknown): ConfigDocument | undefined {
    const [mark] = byteOrderMark.exec(this.text) ?? [];
    const partsOf = (config: ConfigDocument) => {
      const others = without(config.root, [...place.container, place.key]);
      return [config.entries(place.container).get(place.key), others].map(toPlain);
    };
    for (const text of texts) {
      const edited = attempt(() => new ConfigDocument(this.#file, this.#format, mark + text));
      // What is nested too deeply cannot be compared.
      const isRight = attempt(() => edited && isDeepStrictEqual(partsOf(edited), [entry, partsOf(this)[1]]));
      if (isRight) return edited;
    }
    return undefined;
  }

  /** Adds or replaces an entry, or without a value removes it, and the containers that are empty then and have no comment. */
  edit(place: EntryPlace, entry?: JsonValue): ConfigDocument | undefined {
    this.get(place);
    let edited = this.#verify(this.#parsed.edit(place, entry), place, toPlain(entry));
    for (let path = place.container; edited && !entry && path.length > 0; path = path.slice(0, -1)) {
      const value = valueAt(edited.root, path);
      if (value === undefined) continue;
      if (!isEmptyValue(value)) break;
      const outer = { container: path.slice(0, -1), key: path.at(-1) ?? "" };
      const comments = countComments(edited.text);
      const texts = edited.#parsed.edit(outer).filter((text) => countComments(text) === comments);
      const next: ConfigDocument | undefined = edited.#verify(texts, outer, undefined);
      if (next === undefined) break;
      edited = next;
    }
    return edited;
  }

  /** Whether the config has neither values nor comments, so that its file can be deleted. */
  get isBlank(): boolean {
    return /^[\s{}]*$/.test(this.text);
  }
}

export interface EntryChange {
  place: EntryPlace;
  before: JsonRecord | undefined;
  after: JsonRecord | undefined;
}

/** Without secrets and without the rest of the file; empty if nothing changes. */
export function formatEntryDiff(file: string, format: EditedFormat, changes: readonly EntryChange[]): string {
  const write = (place: EntryPlace, entry: JsonRecord | undefined, former?: JsonRecord) =>
    entry === undefined ? "" : `${editors[format].write(place, hideEntry(entry, former))}\n`;
  const texts = changes.map(({ place, before }) => write(place, before));
  const edited = changes.map(({ place, before, after }) => write(place, after, before));
  return formatLineDiff(file, texts.join(""), edited.join(""));
}

/**
 * Edits entries of a config, which `decide` chooses. The text is `undefined` if removing them leaves nothing. Throws
 * `TrailblazeError` `ClientConfigMalformed`, or `ClientConfigUnwritable` with what to do by hand.
 */
export function editEntries(
  file: string,
  format: EditedFormat,
  text: string | undefined,
  decide: (config: ConfigDocument) => readonly EntryChange[],
) {
  const config = new ConfigDocument(file, format, text ?? "");
  const changes = decide(config);
  if (changes.length === 0) return { changed: false, text, diff: "" };
  const edited = changes.reduce<ConfigDocument | undefined>(
    (now, { place, after }) => now?.edit(place, after),
    config,
  );
  if (edited === undefined) {
    const steps = changes.map(({ place: { key }, after }) =>
      after === undefined
        ? `remove ${JSON.stringify(key)}`
        : editors[format].writeInline(key, hideEntry(after)),
    );
    const reason = "its layout does not allow editing only the entry";
    throw failure("ClientConfigUnwritable", { file, reason, byHand: steps.join("\n") }, { file });
  }
  const isGone = edited.isBlank && changes.every(({ after }) => after === undefined);
  const diff = formatEntryDiff(file, format, changes);
  return { changed: true, text: isGone ? undefined : edited.text, diff };
}
