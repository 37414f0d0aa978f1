// Regular expressions without backtracking: all ways through a pattern are followed at once, so that the time grows with
// the length of the text times that of the pattern, whatever the two are. The syntax is JavaScript's with the flag `u`,
// less what cannot be matched like that (looking around, back references), plus RE2's leading `(?ims)`.
import { CelFault } from "./fault.ts";

type Step =
  | { type: "character"; takes: (character: string) => boolean }
  | { type: "assertion"; holds: (before: string | undefined, after: string | undefined) => boolean }
  | { type: "split"; ways: number[] }
  | { type: "match" };

/** A pattern that can be looked for. */
export interface LinearPattern {
  steps: readonly Step[];
}

/** What bounds the time of a search: told of each step, it throws when there were too many. */
export interface StepBudget {
  spend(steps: number): void;
}

const maximumSteps = 5000;
const maximumDepth = 50;

const leadingFlags = /^\(\?([ims]+)\)/;
const refused = /\(\?(?:<?[=!]|[a-z]*-?[a-z]*:(?<!\(\?:))/y;
const groupStart = /\((?:\?(?::|<[^>]*>))?/y;
const quantifier = /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y;
const assertion = /\^|\$|\\[bB]/y;
const backReference = /\\(?:[1-9]|k<)/y;
const character =
  /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[dD][89abAB]..\\u[dD][c-fC-F]..|u.{4}|x..|c.|.)|\[(?:\\.|[^\]\\])*\]|./suy;

const isWordCharacter = (text: string | undefined) => text !== undefined && /^\w$/.test(text);
const isLineEnd = (text: string | undefined) => text === "\n";

function createAssertion(source: string, isMultiline: boolean): Step {
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

/** Checks and compiles a pattern; a fault is a `CelFault`. Takes bounded time and runs nothing. */
export function compilePattern(pattern: string, budget?: StepBudget): LinearPattern {
  budget?.spend(pattern.length);
  const [leading = "", flags = ""] = leadingFlags.exec(pattern) ?? [];
  const text = pattern.slice(leading.length);
  const characterFlags = [...new Set(flags.replace("m", ""))].join("");
  const isMultiline = flags.includes("m");
  try {
    new RegExp(text, "u");
  } catch (error) {
    const why = error instanceof Error ? (error.message.split(": ").at(-1) ?? "").toLowerCase() : "";
    throw new CelFault(`the pattern is no regular expression: ${why}`);
  }
  const steps: Step[] = [];
  let at = 0;
  let depth = 0;
  // Repetitions inside each other are read again and again, also where few steps remain of it.
  let written = 0;

  const add = (step: Step): number => {
    if (steps.length >= maximumSteps || ++written > 20 * maximumSteps)
      throw new CelFault("the pattern is too large");
    budget?.spend(stepsPerStep);
    return steps.push(step) - 1;
  };
  const take = (expression: RegExp): RegExpExecArray | undefined => {
    expression.lastIndex = at;
    const match = expression.exec(text) ?? undefined;
    at += match?.[0].length ?? 0;
    return match;
  };
  /** A step that goes on with the next one added, and elsewhere once that is known. */
  const addSplit = () => {
    const split = { type: "split" as const, ways: [] as number[] };
    split.ways.push(add(split) + 1);
    return split;
  };

  const readAtom = (): void => {
    if (take(refused))
      throw new CelFault("the pattern looks around or changes its flags, which is not supported");
    if (take(groupStart)) {
      if (++depth > maximumDepth) throw new CelFault("the pattern nests too deep");
      readChoice();
      depth--;
      at++;
      return;
    }
    const [asserted] = take(assertion) ?? [];
    if (asserted !== undefined) {
      add(createAssertion(asserted, isMultiline));
      return;
    }
    if (take(backReference)) throw new CelFault("the pattern refers back, which is not supported");
    add(createCharacter(take(character)?.[0] ?? "", characterFlags));
  };

  /** Reads the atom at `from` once more, as another copy in the steps. */
  const copy = (from: number): void => {
    const behind = at;
    at = from;
    readAtom();
    at = behind;
  };

  const readRepeated = (): void => {
    const from = at;
    const first = steps.length;
    readAtom();
    const match = take(quantifier);
    if (match === undefined) return;
    const [, sign, least, comma, most] = match;
    const min = sign === undefined ? Number(least) : sign === "+" ? 1 : 0;
    const max =
      sign === "?" ? 1 : sign !== undefined || (comma && !most) ? Infinity : most ? Number(most) : min;
    // What was read is written again, as often as it is wanted.
    steps.length = first;
    for (let turn = 0; turn < min; turn++) copy(from);
    if (max === Infinity) {
      const start = steps.length;
      const split = addSplit();
      copy(from);
      add({ type: "split", ways: [start] });
      split.ways.push(steps.length);
      return;
    }
    const exits: { ways: number[] }[] = [];
    for (let turn = min; turn < max; turn++) {
      exits.push(addSplit());
      copy(from);
    }
    for (const exit of exits) exit.ways.push(steps.length);
  };

  const readSequence = (): void => {
    while (at < text.length && text[at] !== "|" && text[at] !== ")") readRepeated();
  };

  function readChoice(): void {
    const exits: { ways: number[] }[] = [];
    const choose = addSplit();
    readSequence();
    while (text[at] === "|") {
      at++;
      const exit = { type: "split" as const, ways: [] as number[] };
      add(exit);
      exits.push(exit);
      choose.ways.push(steps.length);
      readSequence();
    }
    for (const exit of exits) exit.ways.push(steps.length);
  }

  readChoice();
  add({ type: "match" });
  return { steps };
}

/** Whether a pattern is found anywhere in a text. */
export function findPattern({ steps }: LinearPattern, text: string, budget: StepBudget): boolean {
  // For the list of them.
  budget.spend(1 + (steps.length >>> 3));
  // The position in the text at which each step was last reached.
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
