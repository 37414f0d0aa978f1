import { isRecord } from "../../data/parse-json.ts";
import {
  type ConfigEditor,
  type ConfigFormatName,
  type ConfigLayout,
  ConfigLayoutError,
  ConfigSyntaxError,
  type EntryPlace,
} from "./config-format.ts";
import { copyRecord, isSameValue, type JsonRecord, toPlain, valueAt } from "./config-value.ts";
import { applySplices, type Splice } from "./splice.ts";

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

const isEmptyValue = (value: unknown): boolean =>
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

/** Whether a text is a valid config that is not blank; another program may still be writing any other. */
export const isWholeConfig =
  (editor: ConfigEditor) =>
  (text: string): boolean =>
    text.trim() !== "" && openConfig(editor, text) instanceof ConfigDocument;

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
    throw new ConfigLayoutError(noLayout, this.#layout.offsetOf(container));
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

  /** The value of an entry; `undefined` if it does not exist. Throws `ConfigSyntaxError` for an invalid container. */
  get(place: EntryPlace): unknown {
    this.#checkContainer(place);
    return this.#find(place);
  }

  /** Writes an entry, replacing an existing one. Throws `ConfigSyntaxError` if that cannot be done safely. */
  set(place: EntryPlace, entry: JsonRecord): ConfigDocument {
    const action = this.get(place) === undefined ? "add" : "replace";
    const edited = this.#apply(this.#layout[action](place, entry), withEntry(this.root, place, entry));
    return edited ?? this.#refuse(place.container);
  }

  /** Removes an entry, and the containers that are empty then and have no comment. */
  remove(place: EntryPlace): ConfigDocument {
    const { container } = place;
    const expected = withEntry(this.root, place, undefined);
    let edited = this.#apply(this.#layout.remove(place), expected, container) ?? this.#refuse(container);
    for (let depth = container.length; depth > 0; depth--) {
      const value = valueAt(edited.root, container.slice(0, depth));
      if (value === undefined) continue;
      const without = isEmptyValue(value) ? edited.#removeContainer(container.slice(0, depth)) : undefined;
      if (without === undefined) break;
      edited = without;
    }
    return edited;
  }

  /** `undefined` if the container cannot be removed without a comment. */
  #removeContainer(path: readonly string[]): ConfigDocument | undefined {
    const place = { container: path.slice(0, -1), key: path.at(-1) ?? "", isList: false };
    const hasComment = ({ start, end }: Splice) => /#|\/[/*]/.test(this.#body.slice(start, end));
    const ways = this.#layout.remove(place).filter((splices) => !splices.some(hasComment));
    return this.#apply(ways, withEntry(this.root, place, undefined), place.container);
  }

  /** Whether the config has neither values nor comments, so that its file can be deleted. */
  get isBlank(): boolean {
    return /^[\s{}]*$/.test(this.#body);
  }
}
