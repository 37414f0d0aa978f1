/** An expression in a string: `${{ … }}`. */
export interface Template {
  /** The trimmed text between the braces, without the final `?`. */
  expression: string;
  /** Written as `${{ expr? }}`: an absent value omits its key or element. */
  mayBeAbsent: boolean;
  /** Offsets of the whole template in the string; the end is exclusive. */
  start: number;
  end: number;
}

const opening = "${{";

/**
 * The offset after a quoted string that begins at `start`, or the length of the text if it is not closed. A quote after a
 * backslash does not close it, not even in raw strings: the CEL parser reads them so.
 */
function skipQuoted(text: string, start: number): number {
  const quote = text.charAt(start);
  const isTriple = text.startsWith(quote.repeat(3), start);
  const closing = isTriple ? quote.repeat(3) : quote;
  for (let index = start + closing.length; index < text.length; index++) {
    if (text.charAt(index) === "\\") index++;
    else if (text.startsWith(closing, index)) return index + closing.length;
  }
  return text.length;
}

/** The offset of the `}}` that closes an expression; -1 if there is none. Skips strings, comments and nested braces. */
function findEnd(text: string, start: number): number {
  let depth = 0;
  let isComment = false;
  for (let index = start; index < text.length; index++) {
    const character = text.charAt(index);
    if (depth === 0 && text.startsWith("}}", index)) return index;
    if (isComment) isComment = character !== "\n";
    else if (character === '"' || character === "'") index = skipQuoted(text, index) - 1;
    else if (text.startsWith("//", index)) isComment = true;
    else if (character === "{") depth++;
    else if (character === "}" && depth > 0) depth--;
  }
  return -1;
}

/**
 * Finds the templates in a string. `$${{` is a literal `${{`. `unclosed` is the offset of a template that has
 * no end.
 */
export function findTemplates(text: string): { templates: Template[]; unclosed: number | undefined } {
  const templates: Template[] = [];
  for (let start = text.indexOf(opening); start >= 0; ) {
    if (text.charAt(start - 1) === "$") {
      start = text.indexOf(opening, start + opening.length);
      continue;
    }
    const close = findEnd(text, start + opening.length);
    if (close < 0) return { templates, unclosed: start };
    const inner = text.slice(start + opening.length, close).trim();
    const mayBeAbsent = inner.endsWith("?");
    const expression = mayBeAbsent ? inner.slice(0, -1).trim() : inner;
    templates.push({ expression, mayBeAbsent, start, end: close + 2 });
    start = text.indexOf(opening, close + 2);
  }
  return { templates, unclosed: undefined };
}
