import { isRecord } from "../../data/parse-json.ts";
import type { JsonRecord, JsonValue } from "./config-value.ts";
import { quoteText } from "./toml-text.ts";

const plainText = /^[A-Za-z_/][A-Za-z0-9_/.@+-]*$/;
const specialWords = /^(?:true|false|yes|no|on|off|null|y|n|nan|inf)$/i;

const scalar = (text: string) => (plainText.test(text) && !specialWords.test(text) ? text : quoteText(text));

/** An item of an array after its dash. */
function writeItem(item: JsonValue, indentation: string, lineEnd: string): string {
  return isRecord(item) && Object.keys(item).length > 0
    ? ` ${writeYamlPairs(item as JsonRecord, indentation, lineEnd)}`
    : writeValue(item, indentation, lineEnd);
}

/** The lines of a value below its key, or the value itself after the key. */
function writeValue(value: JsonValue, indentation: string, lineEnd: string): string {
  if (typeof value === "string") return ` ${scalar(value)}`;
  if (Array.isArray(value)) {
    if (value.length === 0) return " []";
    return value
      .map((item) => `${lineEnd}${indentation}-${writeItem(item, `${indentation}  `, lineEnd)}`)
      .join("");
  }
  if (!isRecord(value)) return ` ${String(value)}`;
  if (Object.keys(value).length === 0) return " {}";
  return `${lineEnd}${indentation}${writeYamlPairs(value as JsonRecord, indentation, lineEnd)}`;
}

/** A key with its value in block style, without the indentation of the key. */
export function writeYamlPair(key: string, value: JsonValue, indentation: string, lineEnd: string): string {
  return `${scalar(key)}:${writeValue(value, `${indentation}  `, lineEnd)}`;
}

/** The pairs of an object on lines with this indentation, without that of the first. */
export function writeYamlPairs(record: JsonRecord, indentation: string, lineEnd: string): string {
  return Object.entries(record)
    .map(([key, value]) => writeYamlPair(key, value, indentation, lineEnd))
    .join(lineEnd + indentation);
}
