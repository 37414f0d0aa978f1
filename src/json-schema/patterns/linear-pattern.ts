// Regular expressions without backtracking: follows all paths through a pattern at once, so that the time is proportional
// to the length of the string times that of the pattern. The syntax is JavaScript's with the flag `u`, without lookarounds
// and backreferences, plus RE2's leading `(?ims)`.

class PatternError extends Error {}

/** `ways` lead to other steps, so many further on; all other steps lead to the next one. */
type Step =
  | { type: "character"; takes: (character: string) => boolean }
  | { type: "assertion"; holds: (before: string | undefined, after: string | undefined) => boolean }
  | { type: "split"; ways: readonly number[] };

/** A compiled pattern, or a part of one: it matches at the end of its steps. */
export type LinearPattern = readonly Step[];

const maximumSteps = 5000;
/** Limit on the steps that are written while a pattern is compiled, again in each group around them. */
const mostWritten = 20 * maximumSteps;
/** Turns of a repetition that a judgment of its cost writes out. */
const few = 10;

const leadingFlags = /^\(\?([ims]+)\)/;
const groupStart = /\((?:\?(?:(:)|<?[=!]|<[^>]*>|[a-z-]*:))?/y;
const quantifier = /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y;
const assertion = /[$^]|\\(?:[bB]|[1-9]\d*|k<[^>]*>)/y;
const character =
  /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[dD][89abAB]..\\u[dD][c-fC-F]..|u.{4}|x..|c.|.)|\[(?:\\.|[^\]\\])*\]|./suy;

const isWordCharacter = (text: string | undefined) => text !== undefined && /^\w$/.test(text);
const isLineEnd = (text: string | undefined) => text === "\n";

function createAssertion(source: string, isMultiline: boolean): Step {
  if (/^\\[^bB]/.test(source))
    throw new PatternError("the pattern has a backreference, which is not supported");
  const holds: Extract<Step, { type: "assertion" }>["holds"] =
    source === "^"
      ? (before) => before === undefined || (isMultiline && isLineEnd(before))
      : source === "$"
        ? (_, after) => after === undefined || (isMultiline && isLineEnd(after))
        : (before, after) => (isWordCharacter(before) !== isWordCharacter(after)) === (source === "\\b");
  return { type: "assertion", holds };
}

/** Matches one character with one class, which cannot backtrack. Caches results. */
function createCharacter(source: string, flags: string): Step {
  if (/^[\w ]$/.test(source) && !flags.includes("i"))
    return { type: "character", takes: (text) => text === source };
  const expression = new RegExp(`^${source}$`, `u${flags}`);
  const known = new Map<string, boolean>();
  const takes = (text: string) => {
    const answer = known.get(text) ?? expression.test(text);
    if (known.size < 256) known.set(text, answer);
    return answer;
  };
  return { type: "character", takes };
}

const split = (...ways: number[]): Step => ({ type: "split", ways });

function checkSize(steps: number): void {
  if (steps > maximumSteps) throw new PatternError("the pattern is too large");
}

function repeat(part: LinearPattern, min: number, max: number): LinearPattern {
  const { length } = part;
  const isEndless = max === Infinity;
  checkSize((isEndless ? min : max) * length);
  if (length === 0) return part;
  const needed = Array.from({ length: min }, () => part).flat();
  if (isEndless && min > 0) return [...needed, split(-length, 1)];
  if (isEndless) return [split(1, length + 2), ...part, split(-length - 1)];
  const optional = Array.from({ length: max - min }, (_, turn) => [
    split(1, (max - min - turn) * (length + 1)),
    ...part,
  ]);
  return [...needed, ...optional.flat()];
}

/** The steps of a valid regular expression with the flag `u`, with flags that apply to all of it. Throws `PatternError`. */
function compileSteps(pattern: string, flags: string, isJudged: boolean): LinearPattern {
  const characterFlags = ["i", "s"].filter((flag) => flags.includes(flag)).join("");
  let at = 0;
  let written = 0;

  /** Consumes the match of a sticky expression at the current position. */
  function take(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = at;
    const match = expression.exec(pattern);
    if (match === null) return undefined;
    at += match[0].length;
    return match;
  }

  function readGroup(start: string): LinearPattern {
    const part = readChoice();
    at++;
    const isLookaround = /^\(\?<?[=!]/.test(start);
    if (!isJudged && isLookaround)
      throw new PatternError("the pattern has a lookaround, which is not supported");
    if (!isJudged && /^\(\?[a-z-]+:/.test(start))
      throw new PatternError("the pattern changes flags, which is not supported");
    // A lookaround is matched on its own, so nothing follows its end.
    return isLookaround ? [split(1, part.length + 2), ...part, split()] : part;
  }

  function readAtom(): LinearPattern {
    const [start] = take(groupStart) ?? [];
    if (start !== undefined) return readGroup(start);
    const [asserted] = take(assertion) ?? [];
    if (asserted === undefined) return [createCharacter(take(character)?.[0] ?? "", characterFlags)];
    return isJudged ? [] : [createAssertion(asserted, flags.includes("m"))];
  }

  function readRepeated(): LinearPattern {
    const part = readAtom();
    const match = take(quantifier);
    if (match === undefined) return part;
    const [, sign, least, comma, most] = match;
    const min = sign === undefined ? Number(least) : sign === "+" ? 1 : 0;
    const max = sign === "?" ? 1 : sign !== undefined || (comma && !most) ? Infinity : Number(most || least);
    return isJudged && max > few ? repeat(part, Math.min(min, 1), Infinity) : repeat(part, min, max);
  }

  function readSequence(): LinearPattern {
    const steps: Step[] = [];
    while (at < pattern.length && pattern[at] !== "|" && pattern[at] !== ")") {
      const part = readRepeated();
      written += part.length;
      checkSize(written > mostWritten ? written : steps.push(...part));
    }
    return steps;
  }

  function readChoice(): LinearPattern {
    const first = readSequence();
    const parts = [first];
    while (pattern[at] === "|") {
      at++;
      parts.push(readSequence());
    }
    if (parts.length === 1) return first;
    const size = parts.reduce((sum, { length }) => sum + length + 1, 1);
    checkSize(size);
    const ways: number[] = [];
    const steps: Step[] = [split()];
    for (const part of parts) {
      ways.push(steps.length);
      steps.push(...part, split(size - steps.length - part.length));
    }
    return [split(...ways), ...steps.slice(1)];
  }

  return readChoice();
}

/** Why a regular expression with the flag `u` is not valid, in the words of V8; `undefined` if it is. Does not run it. */
export function explainInvalidPattern(pattern: string): string | undefined {
  try {
    new RegExp(pattern, "u");
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    return message.slice(message.lastIndexOf(": ") + 2).toLowerCase();
  }
}

/**
 * Compiles a pattern in limited time, without running it, or says why not; that continues after a colon. `isJudged`: not to match
 * with it, but to judge how many ways lead through it, also with lookarounds and backreferences.
 */
export function compilePattern(pattern: string, isJudged = false): LinearPattern | string {
  const [leading = "", flags = ""] = leadingFlags.exec(pattern) ?? [];
  const rest = pattern.slice(leading.length);
  const reason = explainInvalidPattern(rest);
  if (reason !== undefined) return `the pattern is not a valid regular expression: ${reason}`;
  try {
    return compileSteps(rest, flags, isJudged);
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    if (error instanceof RangeError) return "the pattern is nested too deeply";
    throw error;
  }
}

export function findPattern(steps: LinearPattern, text: string): boolean {
  // The position in the string at which each step was last reached.
  const reachedAt = new Int32Array(steps.length).fill(-1);
  let waiting: number[] = [];
  const taking: number[] = [];
  let position = 0;
  let before: string | undefined;
  const characters = text[Symbol.iterator]();
  for (let { value: after, done } = characters.next(); ; { value: after, done } = characters.next()) {
    const next = done ? undefined : (after as string);
    const pending = waiting;
    pending.push(0);
    while (pending.length > 0) {
      const index = pending.pop() as number;
      if (index === steps.length) return true;
      if (reachedAt[index] === position) continue;
      reachedAt[index] = position;
      const step = steps[index] as Step;
      if (step.type === "character") taking.push(index);
      else if (step.type === "split") for (const way of step.ways) pending.push(index + way);
      else if (step.holds(before, next)) pending.push(index + 1);
    }
    if (next === undefined) return false;
    // `pending` is empty, so it is reused.
    waiting = pending;
    for (const index of taking) {
      const step = steps[index] as Extract<Step, { type: "character" }>;
      if (step.takes(next)) waiting.push(index + 1);
    }
    taking.length = 0;
    before = next;
    position++;
  }
}
