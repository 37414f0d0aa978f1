import { isRecord } from "../../data/parse-json.ts";
import {
  type ConfigEditor,
  type ConfigFormatName,
  type ConfigLayout,
  ConfigSyntaxError,
  type EntryPlace,
} from "./config-format.ts";
import {
  copyRecord,
  isSameValue,
  type JsonRecord,
  type JsonValue,
  toPlain,
  valueAt,
} from "./config-value.ts";
import { editList } from "./list-entries.ts";
import { applySplices, type Splice } from "./splice.ts";

/** What else changed when the first entry was added, so that removing the last entry can undo it. */
export interface ContainerTrace {
  /** How many of the container's keys existed before. */
  found: number;
  /** The text of the innermost of these, if it was empty. */
  empty?: string;
  /** The whole text, if it had no values. */
  whole?: string;
}

const mark = "\uFEFF";
const noLayout = "its layout does not allow editing only the entry";

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return isRecord(value) ? "an object" : `a ${typeof value}`;
}

const nameOf = (entry: unknown) => (isRecord(entry) ? entry.name : undefined);

/** The config with an entry set or removed. Unaffected parts are shared with the original. */
function withEntry(root: unknown, { container, key, isList }: EntryPlace, entry: unknown): unknown {
  const copy = copyRecord(isRecord(root) ? root : {});
  let map = copy;
  const parents = isList ? container.slice(0, -1) : container;
  for (const name of parents) {
    const inner = map[name];
    const next = copyRecord(isRecord(inner) ? inner : {});
    map[name] = next;
    map = next;
  }
  if (isList) {
    const name = container.at(-1) ?? "";
    const list = Array.isArray(map[name]) ? (map[name] as unknown[]) : [];
    const index = list.findIndex((one) => nameOf(one) === key);
    const named = entry === undefined ? [] : [toPlain({ name: key, ...(entry as JsonRecord) })];
    map[name] = index < 0 ? [...list, ...named] : list.toSpliced(index, 1, ...named);
  } else if (entry === undefined) delete map[key];
  else map[key] = toPlain(entry);
  return copy;
}

export const isEmptyValue = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0);

/** The config without its container if that is empty, because formats write an empty container in different ways. */
function withoutEmpty(root: unknown, [key, ...below]: readonly string[]): unknown {
  const map = isRecord(root) ? root : {};
  if (key === undefined || !Object.hasOwn(map, key)) return map;
  const { [key]: inner, ...rest } = map;
  const kept = below.length > 0 && isRecord(inner) ? withoutEmpty(inner, below) : inner;
  if (isEmptyValue(kept)) return rest;
  return kept === inner ? map : { ...rest, [key]: kept };
}

/** Whether a config contains only empty objects down to the container. */
function isScaffold(rest: string, container: readonly string[]): boolean {
  const written = rest.replace(/\s/g, "");
  const scaffolds = container.map((_, depth) =>
    JSON.stringify(
      container.slice(0, depth + 1).reduceRight<object>((inner, key) => ({ [key]: inner }), {}),
    ).replace(/\s/g, ""),
  );
  return ["", "{}", ...scaffolds].includes(written);
}

/** Loads the editor of a format on first use. */
export async function loadEditor(format: ConfigFormatName): Promise<ConfigEditor> {
  if (format === "toml") return (await import("./toml-editor.ts")).tomlEditor;
  if (format === "yaml") return (await import("./yaml-editor.ts")).yamlEditor;
  return (await import("./json-editor.ts")).jsonEditor;
}

/** Parses a config. Returns the error if it is invalid. */
export function openConfig(editor: ConfigEditor, text: string): ConfigDocument | ConfigSyntaxError {
  try {
    return new ConfigDocument(editor, text);
  } catch (error) {
    if (error instanceof ConfigSyntaxError) return error;
    if (error instanceof RangeError) return new ConfigSyntaxError("it is nested too deeply", 0);
    throw error;
  }
}

/** A parsed config. An edit returns a new one in which only the entry differs, or throws. */
export class ConfigDocument {
  readonly text: string;
  readonly root: Record<string, unknown>;
  readonly editor: ConfigEditor;
  /** The byte order mark, if there is one. */
  readonly #mark: string;
  readonly #body: string;
  #opened: ConfigLayout | undefined;

  /** Throws `ConfigSyntaxError` if the text is invalid or not an object. */
  constructor(editor: ConfigEditor, text: string) {
    this.text = text;
    this.editor = editor;
    this.#mark = text.startsWith(mark) ? mark : "";
    this.#body = text.slice(this.#mark.length);
    this.root = this.#parse();
  }

  /** A blank text is a config without values in every format. It is parsed only when it is edited. */
  get #layout(): ConfigLayout {
    this.#opened ??= this.editor.open(this.#body);
    return this.#opened;
  }

  #parse(): Record<string, unknown> {
    const body = this.#body;
    if (body.length > this.editor.maximumLength) {
      const [size, limit] = [body.length, this.editor.maximumLength].map((one) => Math.ceil(one / (1 << 20)));
      throw new ConfigSyntaxError(`it has ${size} MiB; the limit for its format is ${limit} MiB`, 0);
    }
    const conflict = /^<<<<<<< .*$/m.exec(body);
    if (conflict !== null && /^>>>>>>> /m.test(body)) {
      throw new ConfigSyntaxError("it has unresolved merge conflicts", conflict.index);
    }
    const value = body.trim() === "" ? undefined : this.#layout.value;
    if (value === undefined) return Object.create(null);
    if (!isRecord(value))
      throw new ConfigSyntaxError(`it must be an object, but it is ${describe(value)}`, 0);
    return value;
  }

  /** Throws if a key on the path to the container has a value that is not an object. */
  #checkContainer({ container, isList }: EntryPlace): void {
    for (const [depth, key] of container.entries()) {
      const path = container.slice(0, depth + 1);
      const value = valueAt(this.root, path);
      if (value === undefined || value === null) return;
      const isInList = isList && depth === container.length - 1;
      if (isInList ? Array.isArray(value) : isRecord(value)) continue;
      throw new ConfigSyntaxError(
        `its ${JSON.stringify(key)} must be ${isInList ? "an array" : "an object"}, but it is ${describe(value)}`,
        this.#layout.offsetOf(path),
      );
    }
  }

  #refuse(container: readonly string[]): never {
    throw new ConfigSyntaxError(noLayout, this.#layout.offsetOf(container));
  }

  /** Applies the first alternative that yields the expected value. Empty containers may be added or removed. */
  #apply(
    ways: readonly (readonly Splice[])[],
    expected: unknown,
    container: readonly string[] = [],
  ): ConfigDocument | undefined {
    const wanted = withoutEmpty(expected, container);
    for (const splices of ways) {
      if (splices.length === 0) continue;
      const edited = openConfig(this.editor, this.#mark + applySplices(this.#body, splices));
      if (edited instanceof ConfigSyntaxError) continue;
      if (isSameValue(withoutEmpty(edited.root, container), wanted)) return edited;
    }
    return undefined;
  }

  /** The entries of a container by their keys. */
  entries({ container, isList }: Omit<EntryPlace, "key">): Map<string, unknown> {
    const value = valueAt(this.root, container);
    if (!isList) return new Map(isRecord(value) ? Object.entries(value) : []);
    const list = Array.isArray(value) ? value : [];
    return new Map(list.map((entry) => [String(nameOf(entry)), entry]));
  }

  #find(place: EntryPlace): unknown {
    const { container, key, isList } = place;
    return isList ? this.entries(place).get(key) : valueAt(this.root, [...container, key]);
  }

  /** Whether there is an entry, in a container of any form. */
  has(place: EntryPlace): boolean {
    return this.#find(place) !== undefined;
  }

  /** The value of an entry; `undefined` if it does not exist. Throws `ConfigSyntaxError` for an invalid container. */
  get(place: EntryPlace): unknown {
    this.#checkContainer(place);
    return this.#find(place);
  }

  #isEditedAsList({ isList }: EntryPlace): boolean {
    return isList && !this.editor.hasLists;
  }

  #editList(place: EntryPlace, entry: JsonRecord | undefined): Splice[][] {
    return editList(this.#body, this.#layout, place, entry);
  }

  /** Writes an entry, replacing an existing one. Throws `ConfigSyntaxError` if that cannot be done safely. */
  set(place: EntryPlace, entry: JsonRecord): ConfigDocument {
    const action = this.get(place) === undefined ? "add" : "replace";
    const ways = this.#isEditedAsList(place)
      ? this.#editList(place, entry)
      : this.#layout[action](place, entry);
    const edited = this.#apply(ways, withEntry(this.root, place, entry));
    return edited ?? this.#refuse(place.container);
  }

  /** The range of an entry; `undefined` if it is not contiguous. */
  #spanOf(place: EntryPlace): Splice | undefined {
    const [[splice, ...rest] = []] = this.#layout.replace(place, {});
    return rest.length === 0 ? splice : undefined;
  }

  /** The text of an entry, for `putBack`; `undefined` if it is not contiguous. */
  rawOf(place: EntryPlace): string | undefined {
    const span = this.#spanOf(place);
    return span && this.#body.slice(span.start, span.end);
  }

  /** Restores an entry that `set` replaced: its text if that still fits, otherwise its value. */
  putBack(place: EntryPlace, { raw, value }: { raw?: string | undefined; value: JsonValue }): ConfigDocument {
    const span = this.#spanOf(place);
    const asWritten = raw === undefined || span === undefined ? [] : [[{ ...span, text: raw }]];
    const anew = isRecord(value) ? this.#layout.replace(place, value as JsonRecord) : [];
    const edited = this.#apply([...asWritten, ...anew], withEntry(this.root, place, value));
    return edited ?? this.#refuse(place.container);
  }

  /** Records what else changes when the first entry is added to a container. */
  traceContainer(container: readonly string[]): ContainerTrace {
    const trace: ContainerTrace = { found: 0 };
    if (isEmptyValue(this.root) && this.#body.length <= 4096) trace.whole = this.#body;
    while (
      trace.found < container.length &&
      valueAt(this.root, container.slice(0, trace.found + 1)) !== undefined
    ) {
      trace.found++;
    }
    const isBlank = this.#body.trim() === "";
    const empty = isBlank ? undefined : this.#layout.rawEmpty(container.slice(0, trace.found));
    if (empty !== undefined) trace.empty = empty;
    return trace;
  }

  /** Removes an entry and, after the last one, also what else changed when the first one was added. */
  remove(place: EntryPlace, trace?: ContainerTrace): ConfigDocument {
    const { container } = place;
    const expected = withEntry(this.root, place, undefined);
    const ways = this.#isEditedAsList(place) ? this.#editList(place, undefined) : this.#layout.remove(place);
    const cut = this.#apply(ways, expected, container) ?? this.#refuse(container);
    if (!isEmptyValue(valueAt(expected, container))) return cut;
    const tidied = cut.#tidyContainer(container, trace, expected);
    const whole = trace?.whole;
    if (whole === undefined || !isEmptyValue(withoutEmpty(expected, container))) return tidied;
    const written = whole.trimEnd();
    // Braces at the end are the object that got the entry, or the end of a comment.
    const isOnlyScaffold = [written.replace(/\{\s*\}$/, "").trimEnd(), written].some(
      (kept) => tidied.#body.startsWith(kept) && isScaffold(tidied.#body.slice(kept.length), container),
    );
    return isOnlyScaffold ? new ConfigDocument(this.editor, this.#mark + whole) : tidied;
  }

  /** Removes the containers that were created for an entry, and restores the original text of an empty one. */
  #tidyContainer(
    container: readonly string[],
    trace: ContainerTrace | undefined,
    expected: unknown,
  ): ConfigDocument {
    const path = container.slice(0, trace?.found);
    let tidied: ConfigDocument = this;
    for (let depth = container.length; depth > path.length; depth--) {
      const made = container.slice(0, depth);
      const raw = tidied.#layout.rawEmpty(made);
      // A comment that was added meanwhile stays, and so does its container.
      if (raw === undefined || /[^\s{}]/.test(raw)) return tidied;
      const key = made.at(-1) ?? "";
      const ways = tidied.#layout.remove({ container: made.slice(0, -1), key, isList: false });
      tidied = tidied.#apply(ways, expected, container) ?? tidied;
    }
    const isEmpty = tidied.#body.trim() !== "" && isEmptyValue(valueAt(tidied.root, path));
    if (!isEmpty || tidied.#layout.rawEmpty(path) === undefined) return tidied;
    const ways = tidied.#layout.restoreEmpty(path, trace?.empty ?? this.editor.emptyText);
    return tidied.#apply(ways, expected, container) ?? tidied;
  }

  /** Whether the config has no value, so that a file created for an entry can be removed. */
  isEmpty(container: readonly string[]): boolean {
    return isEmptyValue(withoutEmpty(this.root, container));
  }
}
