import { endOfString, isRecord } from "./parse-json.ts";

function countKeysInText(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) !== 0x22) continue;
    index = endOfString(text, index);
    while (index < text.length && " \t\r\n".includes(text.charAt(index))) index++;
    if (text.charCodeAt(index) === 0x3a) count++;
  }
  return count;
}

function countKeysInValue(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, entry) => sum + countKeysInValue(entry), 0);
  if (!isRecord(value)) return 0;
  const keys = Object.keys(value);
  return keys.reduce((sum, key) => sum + countKeysInValue(value[key]), keys.length);
}

/**
 * Whether an object in a valid JSON text repeats a key. Parsers keep only the last one, so a reader of the text and the
 * program would see different values. `value` is the parsed text.
 */
export function hasDuplicateKeys(text: string, value: unknown): boolean {
  return countKeysInText(text) !== countKeysInValue(value);
}

/** The top-level keys of a valid JSON text, in order; a repeated key is yielded each time. */
function* readTopKeys(text: string): Generator<string> {
  let depth = 0;
  let isKey = false;
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case 0x22: {
        const end = endOfString(text, index);
        if (isKey) yield JSON.parse(text.slice(index, end)) as string;
        isKey = false;
        index = end - 1;
        break;
      }
      case 0x5b:
      case 0x7b:
        isKey = ++depth === 1;
        break;
      case 0x5d:
      case 0x7d:
        depth--;
        break;
      case 0x2c:
        isKey = depth === 1;
    }
  }
}

/** The repeated top-level keys of a valid JSON text. Uses no parser, to keep start-up fast. */
export function findRepeatedTopKeys(text: string): Set<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const key of readTopKeys(text)) (seen.has(key) ? repeated : seen).add(key);
  return repeated;
}
