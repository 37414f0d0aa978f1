// Regular expressions without backtracking: follows all paths through a pattern at once, so that the time is proportional
// to the length of the string times that of the pattern. The syntax is JavaScript's with the flag `u`, without lookarounds
// and backreferences, plus RE2's leading `(?ims)`.

/** Thrown if a pattern cannot be compiled. The message continues after a colon. */
export class PatternError extends Error {}

/** The structure of a regular expression. */
type PatternPart =
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
function parsePattern(pattern: string): PatternPart {
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

type Step =
  | { type: "character"; source: string; takes: (character: string) => boolean }
  | { type: "assertion"; holds: (before: string | undefined, after: string | undefined) => boolean }
  | { type: "split"; ways: number[] }
  | { type: "match" };

/** A compiled pattern. */
export interface LinearPattern {
  steps: readonly Step[];
}

const maximumSteps = 5000;
/** Turns of a repetition that a judgment of its cost writes out. */
const few = 10;

const leadingFlags = /^\(\?([ims]+)\)/;

const isWordCharacter = (text: string | undefined) => text !== undefined && /^\w$/.test(text);
const isLineEnd = (text: string | undefined) => text === "\n";

function createAssertion(source: string, isMultiline: boolean): Step {
  if (source.startsWith("(")) throw new PatternError("the pattern has a lookaround, which is not supported");
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
    return { type: "character", source, takes: (text) => text === source };
  const expression = new RegExp(`^${source}$`, `u${flags}`);
  const known = new Map<string, boolean>();
  const takes = (text: string) => {
    const answer = known.get(text) ?? expression.test(text);
    if (known.size < 256) known.set(text, answer);
    return answer;
  };
  return { type: "character", source, takes };
}

/** The steps of a pattern and of its parts, with flags that apply to all. Takes limited time. Throws `PatternError`. */
function compileSteps(whole: PatternPart, flags: string, isJudged: boolean): readonly Step[] {
  const characterFlags = [...new Set(flags.replace("m", ""))].join("");
  const steps: Step[] = [];
  // Counts repeated parts each time, including those without steps.
  let parts = 0;

  const add = (step: Step): void => {
    if (steps.length >= maximumSteps) throw new PatternError("the pattern is too large");
    steps.push(step);
  };
  /** Adds a step with several successors, which the caller may add later. */
  const addSplit = (...ways: number[]): number[] => {
    add({ type: "split", ways });
    return ways;
  };
  /** Adds a step that continues at the next one and at another one, which the caller adds later. */
  const addBranch = (): number[] => addSplit(steps.length + 1);

  function compileRepeat({ part, min, max }: Extract<PatternPart, { type: "repeat" }>): void {
    const isEndless = max === Infinity || (isJudged && max > few);
    let start = steps.length;
    for (let turn = 0; turn < (isEndless && isJudged ? Math.min(min, 1) : min); turn++) {
      start = steps.length;
      compilePart(part);
    }
    const exits = isEndless && min > 0 ? [addSplit(start)] : [];
    for (let turn = min; turn < (isEndless ? 1 : max); turn++) {
      exits.push(addBranch());
      compilePart(part);
    }
    if (isEndless && min === 0) addSplit(start);
    for (const exit of exits) exit.push(steps.length);
  }

  /** A lookaround is matched on its own, so nothing follows its end. */
  function passBy(part: PatternPart | undefined): void {
    const exit = addBranch();
    if (part !== undefined) compilePart(part);
    addSplit();
    exit.push(steps.length);
  }

  function compileChoice(parts: readonly PatternPart[]): void {
    const choice = addSplit();
    const exits = parts.map((part) => {
      choice.push(steps.length);
      compilePart(part);
      return addSplit();
    });
    for (const exit of exits) exit.push(steps.length);
  }

  function compilePart(part: PatternPart): void {
    if (++parts > 20 * maximumSteps) throw new PatternError("the pattern is too large");
    if (part.type === "character") add(createCharacter(part.source, characterFlags));
    else if (part.type === "aside" && isJudged) passBy(part.part);
    else if (part.type === "aside") add(createAssertion(part.source, flags.includes("m")));
    else if (part.type === "repeat") compileRepeat(part);
    else if (part.type === "choice") compileChoice(part.parts);
    else if (part.changesFlags && !isJudged)
      throw new PatternError("the pattern changes flags, which is not supported");
    else for (const one of part.parts) compilePart(one);
  }

  compilePart(whole);
  add({ type: "match" });
  return steps;
}

/**
 * Compiles a pattern in limited time, without running it. Throws `PatternError`. `isJudged`: not to match with it, but to judge
 * how many ways lead through it, also with lookarounds and backreferences.
 */
export function compilePattern(pattern: string, isJudged = false): LinearPattern {
  const [leading = "", flags = ""] = leadingFlags.exec(pattern) ?? [];
  try {
    new RegExp(pattern.slice(leading.length), "u");
    return { steps: compileSteps(parsePattern(pattern.slice(leading.length)), flags, isJudged) };
  } catch (error) {
    if (error instanceof RangeError) throw new PatternError("the pattern is nested too deeply");
    if (!(error instanceof SyntaxError)) throw error;
    const reason = error.message.slice(error.message.lastIndexOf(": ") + 2).toLowerCase();
    throw new PatternError(`the pattern is not a valid regular expression: ${reason}`);
  }
}

/** Whether a pattern matches anywhere in a string. */
export function findPattern({ steps }: LinearPattern, text: string): boolean {
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
      if (reachedAt[index] === position) continue;
      reachedAt[index] = position;
      const step = steps[index] as Step;
      if (step.type === "character") taking.push(index);
      else if (step.type === "split") for (const way of step.ways) pending.push(way);
      else if (step.type === "match") return true;
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
