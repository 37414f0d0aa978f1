/** The structure of a regular expression, as far as backtracking is concerned. */
export type PatternPart =
  /** One character; `source` is a regular expression for it. */
  | { type: "character"; source: string }
  | { type: "sequence"; parts: readonly PatternPart[] }
  | { type: "choice"; parts: readonly PatternPart[] }
  | { type: "repeat"; part: PatternPart; min: number; max: number }
  /** Takes no character from the text that the rest is matched with: an assertion, or what looks around. */
  | { type: "aside"; part: PatternPart | undefined };

const quantifier = /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y;
const groupStart = /\(\?(?:(:)|<?[=!]|<[^>]*>|[a-z-]*:)/y;
const boundary = /[$^]|\\[bB]/y;
const backReference = /\\(?:[1-9]\d*|k<[^>]*>)/y;
const character =
  /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[dD][89abAB]..\\u[dD][c-fC-F]..|u.{4}|x..|c.|.)|\[(?:\\.|[^\]\\])*\]|./suy;

const nothing: PatternPart = { type: "sequence", parts: [] };

/**
 * Reads the structure of a pattern that is a regular expression with the flag `u`; of any other the result means
 * nothing. A back reference counts as nothing, as it is no choice of its own.
 */
export function parsePattern(pattern: string): PatternPart {
  let at = 0;

  /** What a sticky expression matches here, taken. */
  function take(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = at;
    const match = expression.exec(pattern);
    if (match === null) return undefined;
    at += match[0].length;
    return match;
  }

  function readGroup(): PatternPart {
    const [start = ""] = take(groupStart) ?? take(/\(/y) ?? [];
    const part = readChoice();
    at++;
    return /^\(\?<?[=!]/.test(start) ? { type: "aside", part } : part;
  }

  function readAtom(): PatternPart {
    if (pattern[at] === "(") return readGroup();
    if (take(boundary)) return { type: "aside", part: undefined };
    if (take(backReference)) return nothing;
    return { type: "character", source: take(character)?.[0] ?? "" };
  }

  function readRepeated(): PatternPart {
    const part = readAtom();
    const match = take(quantifier);
    if (match === undefined) return part;
    const [, sign, least, comma, most] = match;
    if (sign !== undefined)
      return { type: "repeat", part, min: sign === "+" ? 1 : 0, max: sign === "?" ? 1 : Infinity };
    const min = Number(least);
    return { type: "repeat", part, min, max: most ? Number(most) : comma ? Infinity : min };
  }

  function readSequence(): PatternPart {
    const parts: PatternPart[] = [];
    while (at < pattern.length && pattern[at] !== "|" && pattern[at] !== ")") parts.push(readRepeated());
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { type: "sequence", parts };
  }

  function readChoice(): PatternPart {
    const parts = [readSequence()];
    while (pattern[at] === "|") {
      at++;
      parts.push(readSequence());
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { type: "choice", parts };
  }

  return readChoice();
}
