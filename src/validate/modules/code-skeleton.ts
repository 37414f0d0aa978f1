// Finds out what surrounds a position in a module, without a parser. Lexers provide the positions.

/** Words after which a slash starts a regular expression. */
const beforePattern = new Set(
  "await case delete do else in instanceof new of return throw typeof void yield".split(" "),
);

/** The end of the string or regular expression that starts at an index. Neither spans lines. */
function endOfQuoted(text: string, start: number, quote: string): number {
  let isInClass = false;
  for (let index = start + 1; index < text.length; index++) {
    const character = text[index];
    if (character === "\\") index++;
    else if (character === "\n") return index;
    else if (quote === "/" && character === "[") isInClass = true;
    else if (character === "]") isInClass = false;
    else if (character === quote && !isInClass) return index + 1;
  }
  return text.length;
}

/** The end of a literal part of a template: after the closing quote, or after the `${` of an expression. */
function endOfTemplate(text: string, start: number): { end: number; isOpen: boolean } {
  for (let index = start; index < text.length; index++) {
    const character = text[index];
    if (character === "\\") index++;
    else if (character === "`") return { end: index + 1, isOpen: false };
    else if (character === "$" && text[index + 1] === "{") return { end: index + 2, isOpen: true };
  }
  return { end: text.length, isOpen: false };
}

/**
 * Replaces comments, strings, literal parts of templates and regular expressions with spaces. All indexes and lines stay
 * the same. The token before a slash decides whether it divides, which is correct for nearly all code.
 */
export function blankNonCode(text: string): string {
  const parts: string[] = [];
  let written = 0;
  const blank = (from: number, to: number) => {
    parts.push(text.slice(written, from), text.slice(from, to).replace(/[^\n]/g, " "));
    written = to;
    return to;
  };
  /** The depth in braces of the expressions of open templates. */
  const templates: number[] = [];
  let depth = 0;
  let last = "";
  const openTemplate = (from: number, start: number) => {
    const { end, isOpen } = endOfTemplate(text, start);
    if (isOpen) templates.push(depth);
    last = isOpen ? "{" : ")";
    return blank(from, end);
  };
  const endOf = (mark: string, from: number) => {
    const found = text.indexOf(mark, from);
    return found < 0 ? text.length : found;
  };
  const word = /[\w$\u0080-\uffff]+/y;
  let index = text.startsWith("#!") ? blank(0, endOf("\n", 0)) : 0;
  while (index < text.length) {
    const character = text[index] as string;
    const next = text[index + 1];
    word.lastIndex = index;
    if (/\s/.test(character)) index++;
    else if (character === "/" && next === "/") index = blank(index, endOf("\n", index));
    else if (character === "/" && next === "*")
      index = blank(index, Math.min(text.length, endOf("*/", index + 2) + 2));
    else if (character === '"' || character === "'") {
      index = blank(index, endOfQuoted(text, index, character));
      last = ")";
    } else if (character === "`") index = openTemplate(index, index + 1);
    else if (character === "}" && templates.at(-1) === depth) {
      templates.pop();
      index = openTemplate(index, index + 1);
    } else if (
      character === "/" &&
      (/^(?:|[^\w$)\]}\u0080-\uffff])$/.test(last) || beforePattern.has(last))
    ) {
      index = blank(index, endOfQuoted(text, index, "/"));
      last = ")";
    } else if (word.test(text)) {
      last = text.slice(index, word.lastIndex);
      index = word.lastIndex;
    } else {
      if (character === "{") depth++;
      if (character === "}") depth--;
      last = character;
      index++;
    }
  }
  parts.push(text.slice(written));
  return parts.join("");
}

/** What surrounds the positions of a module, found in one pass. */
export interface Nesting {
  skeleton: string;
  /** The outermost `try` blocks: where they start and end, in order. */
  tries: readonly { start: number; end: number }[];
  /** The index of the closing parenthesis of each open one. */
  closing: ReadonlyMap<number, number>;
}

export function findNesting(text: string): Nesting {
  const skeleton = blankNonCode(text);
  const tries: { start: number; end: number }[] = [];
  const closing = new Map<number, number>();
  const open: number[] = [];
  const blocks: { index: number; isTry: boolean }[] = [];
  let openTries = 0;
  for (const { 0: mark, index } of skeleton.matchAll(/(?<![\w$.])try\s*\{|[{}()]/g)) {
    if (mark === "(") open.push(index);
    else if (mark === ")") {
      const start = open.pop();
      if (start !== undefined) closing.set(start, index);
    } else if (mark !== "}") {
      const isTry = mark !== "{";
      blocks.push({ index, isTry });
      if (isTry) openTries++;
    } else {
      const block = blocks.pop();
      if (block?.isTry && --openTries === 0) tries.push({ start: block.index, end: index });
    }
  }
  const unclosed = blocks.find(({ isTry }) => isTry);
  if (unclosed !== undefined) tries.push({ start: unclosed.index, end: skeleton.length });
  return { skeleton, tries, closing };
}

/** Whether an index is in one of the ranges, which are in order. */
function isWithin(ranges: Nesting["tries"], index: number): boolean {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.end ?? 0) < index) low = middle + 1;
    else high = middle;
  }
  return (ranges[low]?.start ?? index) < index;
}

/** Whether the call at an index is in a `try` block, or its promise has a `.catch`. */
export function isGuarded({ skeleton, tries, closing }: Nesting, index: number): boolean {
  if (isWithin(tries, index)) return true;
  const method = /\s*\??\.\s*([\w$]+)\s*\(/y;
  for (let start = skeleton.indexOf("(", index); ; start = method.lastIndex - 1) {
    const end = closing.get(start);
    if (end === undefined) return false;
    method.lastIndex = end + 1;
    const called = method.exec(skeleton);
    if (called === null) return false;
    if (called[1] === "catch") return true;
  }
}
