import { quote } from "../problems/text.ts";
import { compilePattern, findPattern } from "./patterns/linear-pattern.ts";
import { PatternError } from "./patterns/parse-pattern.ts";

/** A regular expression of a schema. */
export interface SchemaPattern {
  test(text: string): boolean;
  /** Its own text, by which ajv tells it apart. */
  toString(): string;
}

/** Thrown if a string is not matched with a pattern. The message continues after a colon. */
export class PatternLimit extends Error {}

/** Limit on the characters of strings that are matched with backtracking. */
const longestBacktracked = 1000;

/** Halves of surrogate pairs, which our engine treats differently. */
const halves = /\p{Cs}|\\u\{?0*[dD][89a-fA-F]/u;

function compileOwn(pattern: string) {
  if (halves.test(pattern)) return undefined;
  try {
    return compilePattern(pattern);
  } catch (error) {
    if (error instanceof PatternError) return undefined;
    throw error;
  }
}

/**
 * Compiles a valid pattern of a schema with the flag `u`. Our engine matches without backtracking. A pattern that it does
 * not support (lookarounds, backreferences, very large counts) matches short strings in calls; otherwise, `test` throws `PatternLimit`.
 */
export function createSchemaPattern(pattern: string, isCall: boolean): SchemaPattern {
  const native = new RegExp(pattern, "u");
  const own = compileOwn(pattern);
  const test = (text: string) => {
    if (own !== undefined) return findPattern(own, text);
    if (!isCall) throw new PatternLimit(`only calls match the pattern ${quote(pattern)}`);
    if (text.length > longestBacktracked)
      throw new PatternLimit(`a string is too long to be matched with the pattern ${quote(pattern)}`);
    return native.test(text);
  };
  return { test, toString: () => pattern };
}
