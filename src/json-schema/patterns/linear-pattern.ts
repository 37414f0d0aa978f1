// Regular expressions without backtracking: all ways through a pattern are followed at once, so that the time grows with
// the length of the string times that of the pattern, whatever the two are. The syntax is JavaScript's with the flag `u`,
// less what cannot be matched like that (looking around, back references), plus RE2's leading `(?ims)`.
import { PatternError, type PatternPart, parsePattern } from "./parse-pattern.ts";

type Step =
  | { type: "character"; takes: (character: string) => boolean }
  | { type: "assertion"; holds: (before: string | undefined, after: string | undefined) => boolean }
  | { type: "split"; ways: number[] }
  | { type: "match" };

/** A compiled pattern. */
export interface LinearPattern {
  steps: readonly Step[];
}

/** Bounds the time of a search: counts its steps and throws when there are too many. */
export interface StepBudget {
  spend(steps: number): void;
}

const maximumSteps = 5000;

const leadingFlags = /^\(\?([ims]+)\)/;

const isWordCharacter = (text: string | undefined) => text !== undefined && /^\w$/.test(text);
const isLineEnd = (text: string | undefined) => text === "\n";

function createAssertion(source: string, isMultiline: boolean): Step {
  if (source.startsWith("(")) throw new PatternError("the pattern looks around, which is not supported");
  if (/^\\[^bB]/.test(source)) throw new PatternError("the pattern refers back, which is not supported");
  const holds: Extract<Step, { type: "assertion" }>["holds"] =
    source === "^"
      ? (before) => before === undefined || (isMultiline && isLineEnd(before))
      : source === "$"
        ? (_, after) => after === undefined || (isMultiline && isLineEnd(after))
        : (before, after) => (isWordCharacter(before) !== isWordCharacter(after)) === (source === "\\b");
  return { type: "assertion", holds };
}

/** One character against one class: no way back in that. Answers for ASCII are kept. */
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

/** What following one step of a pattern at one character costs. */
const stepsPerVisit = 2;

/** What a step costs that is compiled, which may be a regular expression of one character. */
const stepsPerStep = 40;

/** Compiles a pattern; throws `PatternError`. Takes bounded time and runs nothing. */
export function compilePattern(pattern: string, budget?: StepBudget): LinearPattern {
  budget?.spend(pattern.length);
  const [leading = "", flags = ""] = leadingFlags.exec(pattern) ?? [];
  const characterFlags = [...new Set(flags.replace("m", ""))].join("");
  const steps: Step[] = [];
  // Repeated parts count each time, also those that add no step.
  let parts = 0;

  const add = (step: Step): void => {
    if (steps.length >= maximumSteps) throw new PatternError("the pattern is too large");
    budget?.spend(stepsPerStep);
    steps.push(step);
  };
  /** A step that continues at several others, which are added once they are known. */
  const addSplit = (...ways: number[]): number[] => {
    add({ type: "split", ways });
    return ways;
  };
  /** A step that continues at the next one, and elsewhere once that is known. */
  const addBranch = (): number[] => addSplit(steps.length + 1);

  function compileRepeat({ part, min, max }: Extract<PatternPart, { type: "repeat" }>): void {
    for (let turn = 0; turn < min; turn++) compilePart(part);
    const start = steps.length;
    const exits: number[][] = [];
    for (let turn = min; turn < (max === Infinity ? min + 1 : max); turn++) {
      exits.push(addBranch());
      compilePart(part);
    }
    if (max === Infinity) addSplit(start);
    for (const exit of exits) exit.push(steps.length);
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
    budget?.spend(1);
    if (part.type === "character") add(createCharacter(part.source, characterFlags));
    else if (part.type === "aside") add(createAssertion(part.source, flags.includes("m")));
    else if (part.type === "repeat") compileRepeat(part);
    else if (part.type === "choice") compileChoice(part.parts);
    else if (part.changesFlags)
      throw new PatternError("the pattern changes its flags, which is not supported");
    else for (const one of part.parts) compilePart(one);
  }

  try {
    new RegExp(pattern.slice(leading.length), "u");
    compilePart(parsePattern(pattern.slice(leading.length)));
  } catch (error) {
    if (error instanceof RangeError) throw new PatternError("the pattern nests too deep");
    if (!(error instanceof SyntaxError)) throw error;
    const reason = error.message.slice(error.message.lastIndexOf(": ") + 2).toLowerCase();
    throw new PatternError(`the pattern is no regular expression: ${reason}`);
  }
  add({ type: "match" });
  return { steps };
}

/** Whether a pattern is found anywhere in a string. */
export function findPattern({ steps }: LinearPattern, text: string, budget: StepBudget): boolean {
  // For the list of them.
  budget.spend(1 + (steps.length >>> 3));
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
    let spent = 0;
    while (pending.length > 0) {
      const index = pending.pop() as number;
      if (reachedAt[index] === position) continue;
      reachedAt[index] = position;
      spent++;
      const step = steps[index] as Step;
      if (step.type === "character") taking.push(index);
      else if (step.type === "split") for (const way of step.ways) pending.push(way);
      else if (step.type === "match") return true;
      else if (step.holds(before, next)) pending.push(index + 1);
    }
    budget.spend(spent * stepsPerVisit);
    if (next === undefined) return false;
    // Empty by now.
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
