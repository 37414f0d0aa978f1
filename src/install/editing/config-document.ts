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
import { applySplices, type Splice } from "./splice.ts";

/** What adding the first entry changed besides, so that removing the last one can undo it. */
export interface ContainerTrace {
  /** How many of the container's keys were there before. */
  found: number;
  /** The innermost of those, as it was written, where it was empty. */
  empty?: string;
  /** The whole text, where it had no values at all. */
  whole?: string;
}

const mark = "\uFEFF";
const noLayout = "it is written in a way that cannot be edited without changing more than the entry";

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return isRecord(value) ? "a map" : `a ${typeof value}`;
}

const nameOf = (entry: unknown) => (isRecord(entry) ? entry.name : undefined);

/** The config with the entry set to a value, or without it. What is not on the way there is shared with the original. */
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

/** The config without its container, where that has nothing in it: formats write that in different ways. */
function withoutEmpty(root: unknown, [key, ...below]: readonly string[]): unknown {
  const map = isRecord(root) ? root : {};
  if (key === undefined || !Object.hasOwn(map, key)) return map;
  const { [key]: inner, ...rest } = map;
  const kept = below.length > 0 && isRecord(inner) ? withoutEmpty(inner, below) : inner;
  if (isEmptyValue(kept)) return rest;
  return kept === inner ? map : { ...rest, [key]: kept };
}

/** The text of a config that has nothing but empty maps down to the container. */
function isScaffold(rest: string, container: readonly string[]): boolean {
  const written = rest.replace(/\s/g, "");
  const scaffolds = container.map((_, depth) =>
    JSON.stringify(
      container.slice(0, depth + 1).reduceRight<object>((inner, key) => ({ [key]: inner }), {}),
    ).replace(/\s/g, ""),
  );
  return ["", "{}", ...scaffolds].includes(written);
}

/** The editor of a format; loaded when a file of it is met. */
export async function loadEditor(format: ConfigFormatName): Promise<ConfigEditor> {
  if (format === "toml") return (await import("./toml-editor.ts")).tomlEditor;
  if (format === "yaml") return (await import("./yaml-editor.ts")).yamlEditor;
  return (await import("./json-editor.ts")).jsonEditor;
}

/** The config of a text, or what keeps it from being used. */
export function openConfig(editor: ConfigEditor, text: string): ConfigDocument | ConfigSyntaxError {
  try {
    return new ConfigDocument(editor, text);
  } catch (error) {
    if (error instanceof ConfigSyntaxError) return error;
    if (error instanceof RangeError) return new ConfigSyntaxError("it nests too deep", 0);
    throw error;
  }
}

/** A config, parsed once. An edit makes another one: nothing but the entry changes in it, or the edit is refused. */
export class ConfigDocument {
  readonly text: string;
  readonly root: Record<string, unknown>;
  readonly #editor: ConfigEditor;
  /** The byte order mark, if there is one. */
  readonly #mark: string;
  readonly #body: string;
  #opened: ConfigLayout | undefined;

  /** Throws `ConfigSyntaxError` where the text is broken or is not a map. */
  constructor(editor: ConfigEditor, text: string) {
    this.text = text;
    this.#editor = editor;
    this.#mark = text.startsWith(mark) ? mark : "";
    this.#body = text.slice(this.#mark.length);
    this.root = this.#parse();
  }

  /** A blank text is not parsed until it is edited: as a config it is one without values in every format. */
  get #layout(): ConfigLayout {
    this.#opened ??= this.#editor.open(this.#body);
    return this.#opened;
  }

  #parse(): Record<string, unknown> {
    const body = this.#body;
    if (body.length > this.#editor.maximumLength) {
      const [size, limit] = [body.length, this.#editor.maximumLength].map((one) =>
        Math.ceil(one / (1 << 20)),
      );
      throw new ConfigSyntaxError(`it has ${size} MiB; the limit for its format is ${limit} MiB`, 0);
    }
    const conflict = /^<<<<<<< .*$/m.exec(body);
    if (conflict !== null && /^>>>>>>> /m.test(body)) {
      throw new ConfigSyntaxError("it holds the markers of an unfinished merge", conflict.index);
    }
    const value = body.trim() === "" ? undefined : this.#layout.value;
    if (value === undefined) return Object.create(null);
    if (!isRecord(value)) throw new ConfigSyntaxError(`it holds ${describe(value)}, not a map`, 0);
    return value;
  }

  /** Throws where the keys that lead to an entry lead through something that is not a map. */
  #checkContainer({ container, isList }: EntryPlace): void {
    for (const [depth, key] of container.entries()) {
      const path = container.slice(0, depth + 1);
      const value = valueAt(this.root, path);
      if (value === undefined || value === null) return;
      const isInList = isList && depth === container.length - 1;
      if (isInList ? Array.isArray(value) : isRecord(value)) continue;
      throw new ConfigSyntaxError(
        `its ${JSON.stringify(key)} is ${describe(value)}, not ${isInList ? "a list" : "a map"}`,
        this.#layout.offsetOf(path),
      );
    }
  }

  #refuse(container: readonly string[]): never {
    throw new ConfigSyntaxError(noLayout, this.#layout.offsetOf(container));
  }

  /** The config after the first way that makes it as it should be, all else unchanged; containers may be empty or not there. */
  #apply(
    ways: readonly (readonly Splice[])[],
    expected: unknown,
    container: readonly string[] = [],
  ): ConfigDocument | undefined {
    const wanted = withoutEmpty(expected, container);
    for (const splices of ways) {
      if (splices.length === 0) continue;
      const edited = openConfig(this.#editor, this.#mark + applySplices(this.#body, splices));
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

  /** Whether there is an entry, whatever its container is. */
  has(place: EntryPlace): boolean {
    return this.#find(place) !== undefined;
  }

  /** The value of an entry; `undefined` where it is not there. Throws `ConfigSyntaxError` where it cannot be. */
  get(place: EntryPlace): unknown {
    this.#checkContainer(place);
    return this.#find(place);
  }

  /** Writes an entry, in the place of the one that is there. Throws `ConfigSyntaxError` where that cannot be done safely. */
  set(place: EntryPlace, entry: JsonRecord): ConfigDocument {
    const ways = this.get(place) === undefined ? "add" : "replace";
    const edited = this.#apply(this.#layout[ways](place, entry), withEntry(this.root, place, entry));
    return edited ?? this.#refuse(place.container);
  }

  /** The one place where an entry stands; `undefined` where it is scattered. */
  #spanOf(place: EntryPlace): Splice | undefined {
    const [[splice, ...rest] = []] = this.#layout.replace(place, {});
    return rest.length === 0 ? splice : undefined;
  }

  /** An entry as it is written, for `putBack`; `undefined` where it is scattered. */
  rawOf(place: EntryPlace): string | undefined {
    const span = this.#spanOf(place);
    return span && this.#body.slice(span.start, span.end);
  }

  /** Puts back what `set` replaced: as it was written if that still fits, else its value. */
  putBack(place: EntryPlace, { raw, value }: { raw?: string | undefined; value: JsonValue }): ConfigDocument {
    const span = this.#spanOf(place);
    const asWritten = raw === undefined || span === undefined ? [] : [[{ ...span, text: raw }]];
    const anew = isRecord(value) ? this.#layout.replace(place, value as JsonRecord) : [];
    const edited = this.#apply([...asWritten, ...anew], withEntry(this.root, place, value));
    return edited ?? this.#refuse(place.container);
  }

  /** What adding the first entry to a container is going to change besides. */
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

  /** Removes an entry, and what adding the first one brought along if it was the last. */
  remove(place: EntryPlace, trace?: ContainerTrace): ConfigDocument {
    const { container } = place;
    const expected = withEntry(this.root, place, undefined);
    const cut = this.#apply(this.#layout.remove(place), expected, container) ?? this.#refuse(container);
    if (!isEmptyValue(valueAt(expected, container))) return cut;
    const tidied = cut.#tidyContainer(container, trace, expected);
    const whole = trace?.whole;
    if (whole === undefined || !isEmptyValue(withoutEmpty(expected, container))) return tidied;
    const kept = whole
      .trimEnd()
      .replace(/\{\s*\}$/, "")
      .trimEnd();
    const isOnlyScaffold =
      tidied.#body.startsWith(kept) && isScaffold(tidied.#body.slice(kept.length), container);
    return isOnlyScaffold ? new ConfigDocument(this.#editor, this.#mark + whole) : tidied;
  }

  /** Takes out the containers that were made for an entry, and writes the one that was there as it was. */
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
      // A comment that was written into it meanwhile stays, and its container with it.
      if (raw === undefined || /[^\s{}]/.test(raw)) return tidied;
      const key = made.at(-1) ?? "";
      const ways = tidied.#layout.remove({ container: made.slice(0, -1), key, isList: false });
      tidied = tidied.#apply(ways, expected, container) ?? tidied;
    }
    const isEmpty = tidied.#body.trim() !== "" && isEmptyValue(valueAt(tidied.root, path));
    if (!isEmpty || tidied.#layout.rawEmpty(path) === undefined) return tidied;
    const ways = tidied.#layout.restoreEmpty(path, trace?.empty ?? this.#editor.emptyText);
    return tidied.#apply(ways, expected, container) ?? tidied;
  }

  /** Whether the config has no value, so that a file which was made for an entry has no use any more. */
  isEmpty(container: readonly string[]): boolean {
    return isEmptyValue(withoutEmpty(this.root, container));
  }
}
