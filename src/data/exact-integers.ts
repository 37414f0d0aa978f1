// Integers of JSON that a number cannot hold exactly, such as 64-bit ids. What is parsed has rounded numbers, so that
// validators and handlers see ordinary JSON; their literals are remembered beside it, and written again in their place.
//
// Code of others that copies, parses or writes messages itself would lose them. On the way through it, a mark takes the
// place of such an integer: a string that is known to this process alone, and that no text contains on its way out.

import { endOfString } from "./parse-json.ts";

/** Literals by the object or array that holds them, and its key. */
const remembered = new WeakMap<object, Map<string, string>>();

/** Set by the first such integer, so that a process without any does not look for them. */
let marks: { prefix: string; quoted: RegExp } | undefined;

/** Where an unsafe integer may begin. Everything else is plain JSON, at the cost of this test. */
const mayBegin = /[\s:,[-]\d{16}/;
/** What JSON has in place of an integer that was rounded. */
const mayBeRounded = /\d{16}|e\+|null/;
/** The next string, or the first digits of a number that has enough of them. */
const stringOrDigits = /"|(?<=[\s:,[]-?)\d{16,}/g;

function getMarks() {
  if (marks === undefined) {
    const prefix = `integer ${crypto.randomUUID().slice(0, 18)} `;
    // A quotation mark after a backslash does not begin a string.
    marks = { prefix, quoted: new RegExp(`(?<!\\\\)"${prefix}(-?\\d+)"`, "g") };
  }
  return marks;
}

/** JSON text with marks in place of integers that a number cannot hold. Also takes whole lines of a text. */
export function markText(text: string): string {
  if (!mayBegin.test(text)) return text;
  const parts: string[] = [];
  let copied = 0;
  stringOrDigits.lastIndex = 0;
  for (let match = stringOrDigits.exec(text); match !== null; match = stringOrDigits.exec(text)) {
    const { index } = match;
    if (match[0] === '"') {
      stringOrDigits.lastIndex = endOfString(text, index);
      continue;
    }
    const start = text[index - 1] === "-" ? index - 1 : index;
    const end = stringOrDigits.lastIndex;
    const literal = text.slice(start, end);
    if (/[.eE]/.test(text.charAt(end)) || Number.isSafeInteger(Number(literal))) continue;
    parts.push(text.slice(copied, start), `"${getMarks().prefix}${literal}"`);
    copied = end;
  }
  return copied === 0 ? text : parts.join("") + text.slice(copied);
}

/** JSON text with the integers in place of their marks. */
export const unmarkText = (text: string): string =>
  marks !== undefined && text.includes(marks.prefix) ? text.replace(marks.quoted, "$1") : text;

export function unmarkBytes(bytes: Uint8Array): Uint8Array {
  if (marks === undefined) return bytes;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.includes(marks.prefix) ? Buffer.from(unmarkText(buffer.toString())) : bytes;
}

function remember(holder: object, key: string, literal: string): void {
  const literals = remembered.get(holder);
  if (literals === undefined) remembered.set(holder, new Map([[key, literal]]));
  else literals.set(key, literal);
}

/** The literal of a number, as long as its holder still has the number. */
export function findInteger(holder: object, key: string): string | undefined {
  const literal = marks && remembered.get(holder)?.get(key);
  return literal !== undefined && Number(literal) === (holder as Record<string, unknown>)[key]
    ? literal
    : undefined;
}

/** Replaces the marks in a parsed value, in place. Returns the value. */
export function readMarks(value: unknown): unknown {
  if (marks === undefined) return value;
  const { prefix } = marks;
  const root: Record<string, unknown> = { value };
  const holders: Record<string, unknown>[] = [root];
  for (const holder of holders) {
    for (const key of Object.keys(holder)) {
      const entry = holder[key];
      if (typeof entry === "object" && entry !== null) holders.push(entry as Record<string, unknown>);
      if (typeof entry !== "string" || !entry.startsWith(prefix)) continue;
      const literal = entry.slice(prefix.length);
      holder[key] = Number(literal);
      remember(holder, key, literal);
    }
  }
  return root.value;
}

/** `JSON.parse` that remembers integers. Throws the same errors. */
export function parseExactly(text: string): unknown {
  const marked = markText(text);
  const value: unknown = JSON.parse(text);
  return marked === text ? value : readMarks(JSON.parse(marked));
}

function markOne(this: unknown, key: string, value: unknown): unknown {
  const literal = typeof value === "number" ? findInteger(this as object, key) : undefined;
  return literal === undefined ? value : getMarks().prefix + literal;
}

/** `JSON.stringify` that writes remembered integers exactly, and integers in place of marks. */
export function stringifyExactly(value: unknown, indentation?: number): string {
  const text = JSON.stringify(value, undefined, indentation);
  if (marks === undefined || text === undefined || !mayBeRounded.test(text)) return text;
  return unmarkText(JSON.stringify(value, markOne, indentation));
}

/** A copy of a JSON value with marks; the value itself if it has no such integer. */
export function markIntegers<Value extends object>(value: Value): Value {
  if (marks === undefined || !mayBeRounded.test(JSON.stringify(value))) return value;
  const marked = JSON.stringify(value, markOne);
  return marked.includes(marks.prefix) ? (JSON.parse(marked) as Value) : value;
}

/** Remembers for a copy of an object or array what its original has. Returns the copy. */
export function carryIntegers<Copy extends object>(original: object, copy: Copy): Copy {
  const literals = marks && remembered.get(original);
  for (const [key, literal] of literals ?? []) remember(copy, key, literal);
  return copy;
}
