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
