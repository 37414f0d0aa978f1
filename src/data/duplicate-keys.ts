import { isRecord } from "./parse-json.ts";

function countKeysInText(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) !== 0x22) continue;
    for (index++; index < text.length && text.charCodeAt(index) !== 0x22; index++) {
      if (text.charCodeAt(index) === 0x5c) index++;
    }
    let next = index + 1;
    while (next < text.length && " \t\r\n".includes(text.charAt(next))) next++;
    if (text.charCodeAt(next) === 0x3a) count++;
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
 * Whether a valid JSON text says one key of an object twice, of which a parser keeps only the last: a reader of the
 * text and the program would see different things. `value` is what the text parses to.
 */
export function hasDuplicateKeys(text: string, value: unknown): boolean {
  return countKeysInText(text) !== countKeysInValue(value);
}
