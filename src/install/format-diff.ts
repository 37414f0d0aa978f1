import { formatLineDiff } from "../data/line-diff.ts";
import { isRecord } from "../data/parse-json.ts";
import { clients } from "./clients/index.ts";
import type { ConfigEditor, EntryPlace, JsonRecord, JsonValue } from "./editing/config-format.ts";
import { isHarmless, isSecretName, looksSecret } from "./secrets.ts";

const mask = "***";
const shapes = clients.map(({ shape }) => shape);
/** Keys of objects whose values are hidden. */
const hiddenKeys = new Set<unknown>([
  ...["env", "headers", "http_headers"],
  ...shapes.map(({ environment }) => environment),
]);
const reference = /\$?\{(?:env:)?\w+(?::-([^{}]*))?\}|\$[A-Za-z_]\w*/g;

/** Whether the value of a variable or a header consists of references to variables. */
function isReference(value: unknown): boolean {
  if (typeof value !== "string") return false;
  const literal = value.replace(reference, (match, fallback: string | undefined) =>
    fallback === undefined || isHarmless(fallback) ? "" : match,
  );
  return /^(?:(?:Bearer|Basic) +)?$/i.test(literal);
}

const maskOf = (value: unknown, former: unknown) =>
  former === undefined || former === value ? mask : `${mask} (changed)`;

/**
 * An entry without secrets: the values of variables and headers, and others that look or are named like one. Hidden values
 * that differ from those of an earlier entry are marked.
 */
export function hideEntry(entry: JsonRecord, former: JsonRecord = {}): JsonRecord {
  const hide = ([key, value]: [string, JsonValue]): [string, JsonValue] => {
    const before = former[key];
    if (isRecord(value)) {
      const formers = (isRecord(before) ? before : {}) as JsonRecord;
      if (!hiddenKeys.has(key)) return [key, hideEntry(value as JsonRecord, formers)];
      const hidden = Object.entries(value).map(([name, one]) => [
        name,
        isReference(one) ? one : maskOf(one, formers[name]),
      ]);
      return [key, Object.fromEntries(hidden)];
    }
    const words = [value].flat();
    if (!words.every((word) => typeof word === "string")) return [key, value];
    const secret = looksSecret(words);
    const isNamed = isSecretName(key) && !isReference(value);
    if (!Array.isArray(value)) return [key, secret[0] || isNamed ? maskOf(value, before) : value];
    return [key, words.map((word, index) => (secret[index] ? mask : word))];
  };
  return Object.fromEntries(Object.entries(entry).map(hide));
}

/** An entry before and after an edit; `undefined` if there is none. */
export interface EntryChange {
  place: EntryPlace;
  before: JsonRecord | undefined;
  after: JsonRecord | undefined;
}

/** A unified diff of entries, without secrets and without the rest of their file; empty if nothing changes. */
export function formatEntryDiff(file: string, editor: ConfigEditor, changes: readonly EntryChange[]): string {
  const write = (which: "before" | "after") =>
    changes
      .map(({ place, before, after }) => {
        const entry = which === "before" ? before && hideEntry(before) : after && hideEntry(after, before);
        return entry === undefined ? "" : `${editor.write(place, entry)}\n`;
      })
      .join("");
  return formatLineDiff(file, write("before"), write("after"));
}
