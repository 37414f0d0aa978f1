/** Thrown if a pattern cannot be compiled. The message continues after a colon. */
export class PatternError extends Error {}

/** The structure of a regular expression. */
export type PatternPart =
  /** One character; `source` is a regular expression for it. */
  | { type: "character"; source: string }
  /** `changesFlags`: the parts have different flags than their surroundings. */
  | { type: "sequence"; parts: readonly PatternPart[]; changesFlags?: true }
  | { type: "choice"; parts: readonly PatternPart[] }
  | { type: "repeat"; part: PatternPart; min: number; max: number }
  /**
   * Consumes no characters: an assertion, or a lookaround, of which `source` is the start. Includes backreferences, which
   * have no alternatives of their own.
   */
  | { type: "aside"; source: string; part: PatternPart | undefined };

const quantifier = /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y;
const groupStart = /\(\?(?:(:)|<?[=!]|<[^>]*>|[a-z-]*:)/y;
const assertion = /[$^]|\\(?:[bB]|[1-9]\d*|k<[^>]*>)/y;
const character =
  /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[dD][89abAB]..\\u[dD][c-fC-F]..|u.{4}|x..|c.|.)|\[(?:\\.|[^\]\\])*\]|./suy;

/** Parses a valid regular expression with the flag `u`. Results for invalid ones are meaningless. */
export function parsePattern(pattern: string): PatternPart {
  let at = 0;

  /** Consumes the match of a sticky expression at the current position. */
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
    if (/^\(\?<?[=!]/.test(start)) return { type: "aside", source: start, part };
    return /^\(\?[a-z-]+:/.test(start) ? { type: "sequence", parts: [part], changesFlags: true } : part;
  }

  function readAtom(): PatternPart {
    if (pattern[at] === "(") return readGroup();
    const [asserted] = take(assertion) ?? [];
    if (asserted !== undefined) return { type: "aside", source: asserted, part: undefined };
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
