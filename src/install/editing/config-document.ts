import { isDeepStrictEqual } from "node:util";
import { describeType, isRecord } from "../../data/parse-json.ts";
import {
  type ConfigEditor,
  type ConfigFormatName,
  ConfigLayoutError,
  ConfigSyntaxError,
  type EntryPlace,
  type JsonRecord,
  type ParsedConfig,
  toPlain,
  valueAt,
} from "./config-format.ts";

const mark = "\uFEFF";

const nameOf = (entry: unknown) => (isRecord(entry) ? entry.name : undefined);

const isEmptyValue = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === "object" && Object.keys(value).length === 0);

/** A value without an entry, and without the containers that are empty then, which formats write in different ways. */
function without(value: unknown, [key = "", ...below]: readonly string[]): unknown {
  if (Array.isArray(value)) return value.filter((entry) => nameOf(entry) !== key);
  if (!isRecord(value) || !Object.hasOwn(value, key)) return value;
  const { [key]: inner, ...rest } = value;
  const kept = below.length === 0 ? undefined : without(inner, below);
  return isEmptyValue(kept) ? rest : { ...rest, [key]: kept };
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
  #parsed: ParsedConfig | undefined;

  /** Throws `ConfigSyntaxError` if the text is invalid or not an object. */
  constructor(editor: ConfigEditor, text: string) {
    this.text = text;
    this.editor = editor;
    this.#mark = text.startsWith(mark) ? mark : "";
    this.#body = text.slice(this.#mark.length);
    this.root = this.#parse();
  }

  /** A blank text is a config without values in every format. It is parsed only when it is edited. */
  get #config(): ParsedConfig {
    try {
      this.#parsed ??= this.editor.open(this.#body);
      return this.#parsed;
    } catch (error) {
      // Parsers recurse.
      throw error instanceof RangeError ? new ConfigSyntaxError("it is nested too deeply", 0) : error;
    }
  }

  #parse(): Record<string, unknown> {
    const body = this.#body;
    if (body.length > this.editor.maximumLength) {
      const [size, limit] = [body.length, this.editor.maximumLength].map((one) => Math.ceil(one / (1 << 20)));
      throw new ConfigSyntaxError(`it has ${size} MiB; the limit for its format is ${limit} MiB`, 0);
    }
    const value = body.trim() === "" ? undefined : this.#config.value;
    if (value === undefined) return Object.create(null);
    if (!isRecord(value))
      throw new ConfigSyntaxError(`it must be an object, but it is ${describeType(value)}`, 0);
    return value;
  }

  /** The entries of a container by their keys, which those of an array have as `name`. */
  entries({ container, isList }: Omit<EntryPlace, "key">): Map<string, unknown> {
    const value = valueAt(this.root, container);
    if (!isList) return new Map(isRecord(value) ? Object.entries(value) : []);
    const list = Array.isArray(value) ? value : [];
    return new Map(list.filter(isRecord).map(({ name, ...entry }) => [String(name), entry]));
  }

  /** The value of an entry; `undefined` if it does not exist. Throws `ConfigSyntaxError` for an invalid container. */
  get({ container, key, isList }: EntryPlace): unknown {
    for (const depth of container.keys()) {
      const path = container.slice(0, depth + 1);
      const value = valueAt(this.root, path);
      if (value === undefined || value === null) break;
      const isInList = isList && path.length === container.length;
      if (isInList ? Array.isArray(value) : isRecord(value)) continue;
      throw new ConfigSyntaxError(
        `its ${JSON.stringify(path.at(-1))} must be ${isInList ? "an array" : "an object"}, but it is ${describeType(value)}`,
        this.#config.offsetOf(path),
      );
    }
    return this.entries({ container, isList }).get(key);
  }

  /** The first alternative in which the entry has a value and everything else is as before. */
  #verify(texts: readonly string[], place: EntryPlace, entry: unknown): ConfigDocument | undefined {
    const path = [...place.container, place.key];
    const others = toPlain(without(this.root, path));
    for (const text of texts) {
      const edited = openConfig(this.editor, this.#mark + text);
      if (edited instanceof ConfigSyntaxError) continue;
      const written = toPlain(edited.entries(place).get(place.key));
      if (isDeepStrictEqual(written, entry) && isDeepStrictEqual(toPlain(without(edited.root, path)), others))
        return edited;
    }
    return undefined;
  }

  /** Writes an entry, replacing an existing one. Throws `ConfigSyntaxError` if that cannot be done safely. */
  set(place: EntryPlace, entry: JsonRecord): ConfigDocument {
    this.get(place);
    return this.#verify(this.#config.set(place, entry), place, toPlain(entry)) ?? refuse();
  }

  /** Removes an entry, and the containers that are empty then and have no comment. */
  remove(place: EntryPlace): ConfigDocument {
    let edited = this.#verify(this.#config.remove(place), place, undefined) ?? refuse();
    for (let depth = place.container.length; depth > 0; depth--) {
      const path = place.container.slice(0, depth);
      const value = valueAt(edited.root, path);
      if (value === undefined) continue;
      if (!isEmptyValue(value)) break;
      const outer = { container: path.slice(0, -1), key: path.at(-1) ?? "", isList: false };
      const comments = countComments(edited.#body);
      const texts = edited.#config.remove(outer);
      const shorter = texts.filter((text) => countComments(text) === comments);
      const next = edited.#verify(shorter, outer, undefined);
      if (next === undefined) break;
      edited = next;
    }
    return edited;
  }

  /** Whether the config has neither values nor comments, so that its file can be deleted. */
  get isBlank(): boolean {
    return /^[\s{}]*$/.test(this.#body);
  }
}

function refuse(): never {
  throw new ConfigLayoutError("its layout does not allow editing only the entry", 0);
}

const countComments = (text: string) => text.match(/#|\/[/*]/g)?.length ?? 0;
