import { formatLineDiff } from "../data/line-diff.ts";
import { isRecord } from "../data/parse-json.ts";
import { clients } from "./clients/index.ts";
import type { ConfigEditor, EntryPlace, JsonRecord, JsonValue } from "./editing/config-format.ts";
import { isHarmless, looksSecret } from "./secrets.ts";

const mask = "***";
const shapes = clients.map(({ shape }) => shape);
/** Keys of objects whose values are hidden. */
const hiddenKeys = new Set<unknown>([
  ...["env", "headers", "http_headers"],
  ...shapes.map(({ environment }) => environment),
]);
const reference = /\$?\{(?:env:)?\w+(?::-([^{}]*))?\}|\$[A-Za-z_]\w*/g;

/** Hides the value of a variable or a header, unless it consists of references to variables. */
function hideValue(value: JsonValue): JsonValue {
  const literal = String(value).replace(reference, (match, fallback: string | undefined) =>
    fallback === undefined || isHarmless(fallback) ? "" : match,
  );
  return /^(?:(?:Bearer|Basic) +)?$/i.test(literal) ? value : mask;
}

function hideWords(words: readonly string[]): string[] {
  const secret = looksSecret(words);
  return words.map((word, index) => (secret[index] ? mask : word));
}

function hideSecrets(key: string, value: JsonValue): JsonValue {
  if (isRecord(value) && hiddenKeys.has(key)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, hideValue(one as JsonValue)]),
    );
  }
  if (typeof value === "string") return hideWords([value])[0] ?? mask;
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return hideWords(value);
  return value;
}

/** Marks hidden values that differ from those of an earlier entry. */
function markChanges(shown: JsonValue, value: JsonValue, former: JsonValue | undefined): JsonValue {
  if (shown === mask) return former === undefined || former === value ? mask : `${mask} (changed)`;
  if (!isRecord(shown)) return shown;
  const [values, formers] = [value as JsonRecord, isRecord(former) ? (former as JsonRecord) : {}];
  return Object.fromEntries(
    Object.entries(shown as JsonRecord).map(([key, one]) => [
      key,
      markChanges(one, values[key] ?? null, formers[key]),
    ]),
  );
}

/** An entry without secrets: the values of variables and headers, and arguments that look secret. */
export function hideEntry(entry: JsonRecord, former?: JsonRecord): JsonRecord {
  const shown = Object.fromEntries(
    Object.entries(entry).map(([key, value]) => [key, hideSecrets(key, value)]),
  );
  return markChanges(shown, entry, former) as JsonRecord;
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
