import { type ConfigEditor, ConfigSyntaxError, type EntryPlace } from "./config-format.ts";
import {
  copyMap,
  isMap,
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

function splitMark(text: string): [mark: string, body: string] {
  return text.startsWith(mark) ? [mark, text.slice(1)] : ["", text];
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return isMap(value) ? "a map" : `a ${typeof value}`;
}

/** Parses a config. Throws `ConfigSyntaxError` where it is broken or is no map. */
export function parseConfigText(editor: ConfigEditor, text: string): Record<string, unknown> {
  const [, body] = splitMark(text);
  if (body.length > editor.maximumLength) {
    const [size, limit] = [body.length, editor.maximumLength].map((one) => Math.ceil(one / (1 << 20)));
    throw new ConfigSyntaxError(`it has ${size} MiB; the limit for its format is ${limit} MiB`, 0);
  }
  const conflict = /^<<<<<<< .*$/m.exec(body);
  if (conflict !== null && /^>>>>>>> /m.test(body)) {
    throw new ConfigSyntaxError("it holds the markers of an unfinished merge", conflict.index);
  }
  const value = body.trim() === "" ? undefined : editor.parse(body);
  if (value === undefined || (value === null && body.trim() === "")) return Object.create(null);
  if (!isMap(value)) throw new ConfigSyntaxError(`it holds ${describe(value)}, not a map`, 0);
  return value;
}

/** Throws where the keys that lead to an entry lead through something that is no map. */
function checkContainer(editor: ConfigEditor, body: string, root: unknown, place: EntryPlace): void {
  const { container, isList } = place;
  for (const [depth, key] of container.entries()) {
    const path = container.slice(0, depth + 1);
    const value = valueAt(root, path);
    if (value === undefined || value === null) return;
    const fits = isList && depth === container.length - 1 ? Array.isArray(value) : isMap(value);
    if (fits) continue;
    const wanted = isList && depth === container.length - 1 ? "a list" : "a map";
    throw new ConfigSyntaxError(
      `its ${JSON.stringify(key)} is ${describe(value)}, not ${wanted}`,
      editor.offsetOf(body, path),
    );
  }
}

const nameOf = (entry: unknown) => (isMap(entry) ? entry.name : undefined);

/** The entries of a container by their keys. */
export function entriesIn(
  root: unknown,
  { container, isList }: Omit<EntryPlace, "key">,
): Map<string, unknown> {
  const value = valueAt(root, container);
  if (isList) {
    const list = Array.isArray(value) ? value : [];
    return new Map(list.map((entry) => [String(nameOf(entry)), entry]));
  }
  return new Map(isMap(value) ? Object.entries(value) : []);
}

/** One of `entriesIn`, without looking at the others. */
export function entryAt(root: unknown, { container, key, isList }: EntryPlace): unknown {
  if (isList) return entriesIn(root, { container, isList }).get(key);
  return valueAt(root, [...container, key]);
}

/** The value of an entry; `undefined` where it is not there. Throws `ConfigSyntaxError`. */
export function readEntry(editor: ConfigEditor, text: string, place: EntryPlace): unknown {
  const root = parseConfigText(editor, text);
  checkContainer(editor, splitMark(text)[1], root, place);
  return entryAt(root, place);
}

/** The config with the entry set to a value, or without it. What is not on the way there is shared with the original. */
function withEntry(root: unknown, { container, key, isList }: EntryPlace, entry: unknown): unknown {
  const copy = copyMap(isMap(root) ? root : {});
  let map = copy;
  const parents = isList ? container.slice(0, -1) : container;
  for (const name of parents) {
    const inner = map[name];
    const next = copyMap(isMap(inner) ? inner : {});
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
  (Array.isArray(value) ? value.length === 0 : isMap(value) && Object.keys(value).length === 0);

/** The config without its container, where that has nothing in it: formats write that in different ways. */
function withoutEmpty(root: unknown, [key, ...below]: readonly string[]): unknown {
  const map = isMap(root) ? root : {};
  if (key === undefined || !Object.hasOwn(map, key)) return map;
  const { [key]: inner, ...rest } = map;
  const kept = below.length > 0 && isMap(inner) ? withoutEmpty(inner, below) : inner;
  if (isEmptyValue(kept)) return rest;
  return kept === inner ? map : { ...rest, [key]: kept };
}

/** Applies the first way after which the config is as it should be, all else unchanged. */
function applyVerified(
  editor: ConfigEditor,
  body: string,
  ways: readonly (readonly Splice[])[],
  expected: unknown,
  container: readonly string[],
): string | undefined {
  const wanted = withoutEmpty(expected, container);
  for (const splices of ways) {
    if (splices.length === 0) continue;
    const edited = applySplices(body, splices);
    try {
      if (isSameValue(withoutEmpty(parseConfigText(editor, edited), container), wanted)) return edited;
    } catch (error) {
      if (!(error instanceof ConfigSyntaxError)) throw error;
    }
  }
  return undefined;
}

function fail(editor: ConfigEditor, body: string, { container }: EntryPlace): never {
  throw new ConfigSyntaxError(noLayout, editor.offsetOf(body, container));
}

function traceContainer(editor: ConfigEditor, body: string, root: unknown, container: readonly string[]) {
  const trace: ContainerTrace = { found: 0 };
  if (isEmptyValue(root)) {
    if (body.length <= 4096) trace.whole = body;
  }
  while (trace.found < container.length && valueAt(root, container.slice(0, trace.found + 1)) !== undefined) {
    trace.found++;
  }
  const empty = body.trim() === "" ? undefined : editor.rawEmpty(body, container.slice(0, trace.found));
  if (empty !== undefined) trace.empty = empty;
  return trace;
}

/** Adds an entry that is not there yet. Throws `ConfigSyntaxError` where that cannot be done safely. */
export function addEntry(
  editor: ConfigEditor,
  text: string,
  place: EntryPlace,
  entry: JsonRecord,
): { text: string; trace: ContainerTrace } {
  const [start, body] = splitMark(text);
  const root = parseConfigText(editor, text);
  checkContainer(editor, body, root, place);
  const expected = withEntry(root, place, entry);
  const edited = applyVerified(editor, body, editor.add(body, place, entry), expected, []);
  if (edited === undefined) return fail(editor, body, place);
  return { text: start + edited, trace: traceContainer(editor, body, root, place.container) };
}

/** Writes an entry in the place of one that is there, whose own text is given back. */
export function replaceEntry(
  editor: ConfigEditor,
  text: string,
  place: EntryPlace,
  entry: JsonRecord,
): { text: string; raw: string | undefined } {
  const [start, body] = splitMark(text);
  const expected = withEntry(parseConfigText(editor, text), place, entry);
  const edited = applyVerified(editor, body, editor.replace(body, place, entry), expected, []);
  if (edited === undefined) return fail(editor, body, place);
  return { text: start + edited, raw: editor.rawEntry(body, place) };
}

/** Puts back what `replaceEntry` replaced: as it was written if that still fits, else its value. */
export function putEntryBack(
  editor: ConfigEditor,
  text: string,
  place: EntryPlace,
  { raw, value }: { raw: string | undefined; value: JsonValue },
): string {
  const [start, body] = splitMark(text);
  const expected = withEntry(parseConfigText(editor, text), place, value);
  const asWritten = raw === undefined ? [] : editor.putBack(body, place, raw);
  const anew = isMap(value) ? editor.replace(body, place, value as JsonRecord) : [];
  const edited = applyVerified(editor, body, [...asWritten, ...anew], expected, []);
  return start + (edited ?? fail(editor, body, place));
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

/** Removes an entry, and what adding the first one brought along if it was the last. */
export function removeEntry(
  editor: ConfigEditor,
  text: string,
  place: EntryPlace,
  trace: ContainerTrace | undefined,
): string {
  const [start, original] = splitMark(text);
  const { container } = place;
  const expected = withEntry(parseConfigText(editor, text), place, undefined);
  const apply = (body: string, ways: readonly (readonly Splice[])[]) =>
    applyVerified(editor, body, ways, expected, container);
  const cut = apply(original, editor.remove(original, place));
  if (cut === undefined) return fail(editor, original, place);
  if (!isEmptyValue(valueAt(expected, container))) return start + cut;
  const body = tidyContainer(editor, cut, container, trace, apply);
  const whole = trace?.whole;
  if (whole !== undefined && isEmptyValue(withoutEmpty(expected, container))) {
    const kept = whole
      .trimEnd()
      .replace(/\{\s*\}$/, "")
      .trimEnd();
    if (body.startsWith(kept) && isScaffold(body.slice(kept.length), container)) return start + whole;
  }
  return start + body;
}

/** Takes out the containers that were made for an entry, and writes the one that was there as it was. */
function tidyContainer(
  editor: ConfigEditor,
  text: string,
  container: readonly string[],
  trace: ContainerTrace | undefined,
  apply: (body: string, ways: readonly (readonly Splice[])[]) => string | undefined,
): string {
  let body = text;
  let depth = container.length;
  const isEmptyAt = (path: readonly string[]) => isEmptyValue(valueAt(parseConfigText(editor, body), path));
  for (; trace !== undefined && depth > trace.found; depth--) {
    const path = container.slice(0, depth);
    if (!isEmptyAt(path)) return body;
    // A comment that somebody wrote into it meanwhile stays, and its container with it.
    if (/[^\s{}]/.test(editor.rawEmpty(body, path) ?? "")) return body;
    body = apply(body, editor.removeContainer(body, path)) ?? body;
  }
  const path = container.slice(0, depth);
  if (body.trim() === "" || !isEmptyAt(path) || editor.rawEmpty(body, path) === undefined) return body;
  return apply(body, editor.restoreEmpty(body, path, trace?.empty ?? editor.emptyText)) ?? body;
}

/** Whether a config has no value, so that a file which was made for an entry has no use any more. */
export function isEmptyConfig(editor: ConfigEditor, text: string, container: readonly string[]): boolean {
  return isEmptyValue(withoutEmpty(parseConfigText(editor, text), container));
}
