import { quote } from "../problems/text.ts";
import { compilePattern, findPattern } from "./patterns/linear-pattern.ts";
import { PatternError } from "./patterns/parse-pattern.ts";

/** A regular expression of a schema. */
export interface SchemaPattern {
  test(text: string): boolean;
}

/** Thrown if a string is not matched with a pattern. The message continues after a colon. */
export class PatternLimit extends Error {}

/** Matches by JavaScript's engine. Throws if that takes too long. */
export type Backtrack = (expression: RegExp, text: string) => boolean;

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
 * Compiles a valid pattern of a schema with the flag `u`. Our engine matches without backtracking. With a pattern that it
 * does not support (lookarounds, backreferences, very large counts), `backtrack`
 * matches short strings; otherwise, `test` throws `PatternLimit`.
 */
export function createSchemaPattern(pattern: string, backtrack: Backtrack | undefined): SchemaPattern {
  const native = new RegExp(pattern, "u");
  const own = compileOwn(pattern);
  if (own !== undefined) return { test: (text) => findPattern(own, text) };
  return {
    test(text) {
      if (backtrack === undefined) throw new PatternLimit(`only calls match the pattern ${quote(pattern)}`);
      if (text.length > longestBacktracked)
        throw new PatternLimit(`a string is too long to be matched with the pattern ${quote(pattern)}`);
      try {
        return backtrack(native, text);
      } catch {
        throw new PatternLimit(`the pattern ${quote(pattern)} takes too long to match a string`);
      }
    },
  };
}
