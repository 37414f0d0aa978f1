import { isRecord } from "../data/parse-json.ts";
import type { Path } from "../problems/index.ts";
import { compileExpression, type Expression, isExpression } from "./cel.ts";
import { absent, Evaluation, ExpressionError, type Shape, type Variables } from "./evaluation.ts";

/** An expression in a string: `${{ … }}`. */
interface WrittenTemplate {
  /** The trimmed text between the braces, without the final `?`. */
  expression: string;
  /** Written as `${{ expr? }}`: an absent value omits its key or element. */
  mayBeAbsent: boolean;
}

const opening = "${{";

/** How many `}}` of one string may be part of expressions, in nested maps and in strings. */
const mostInner = 100;

function readTemplate(text: string): WrittenTemplate {
  const inner = text.trim();
  const mayBeAbsent = inner.endsWith("?");
  return { expression: mayBeAbsent ? inner.slice(0, -1).trim() : inner, mayBeAbsent };
}

/** Finds the `}}` that close the expressions of a string: the first one after valid CEL, else the first; -1 if there is none. */
function createEndFinder(text: string): (start: number) => number {
  let inner = 0;
  return (start) => {
    const first = text.indexOf("}}", start);
    for (let end = first; end >= 0 && inner < mostInner; inner++) {
      if (isExpression(readTemplate(text.slice(start, end)).expression)) return end;
      end = text.indexOf("}}", end + 1);
    }
    return first;
  };
}

/** Splits a string at its templates. `$${{` is a literal `${{`. `unclosed` is the offset of a template that has no end. */
export function splitTemplates(text: string): {
  parts: (string | WrittenTemplate)[];
  unclosed: number | undefined;
} {
  const parts: (string | WrittenTemplate)[] = [];
  const findEnd = createEndFinder(text);
  let unclosed: number | undefined;
  let at = 0;
  for (let start = text.indexOf(opening); start >= 0; ) {
    const inner = start + opening.length;
    if (text.charAt(start - 1) === "$") {
      start = text.indexOf(opening, inner);
      continue;
    }
    const close = findEnd(inner);
    if (close < 0) {
      unclosed = start;
      break;
    }
    parts.push(text.slice(at, start), readTemplate(text.slice(inner, close)));
    at = close + 2;
    start = text.indexOf(opening, at);
  }
  const literals = [...parts, text.slice(at)];
  return { parts: literals.filter((part) => part !== ""), unclosed };
}

/** An expression that does not compile, with its path. `reason` continues a message after a colon. */
export interface TemplateFault {
  expression: string;
  reason: string;
  path: Path;
}

export interface TemplateOptions {
  variables: Variables;
  /** The path of the value. */
  path: Path;
  /** Called for each fault. Compilation continues. */
  onFault: (fault: TemplateFault) => void;
}

/** Evaluates a part: returns its value, or `absent` to omit its key or element. */
type Fill = (evaluation: Evaluation) => unknown;

/**
 * A compiled value that contains templates. Returns it with evaluated templates: new JSON; `absent` if the whole value is one
 * template without a value. Throws `ExpressionError`. All templates share one limit of steps.
 */
export type Template = (scope: Readonly<Record<string, unknown>>) => unknown;

const writeLiteral = (text: string) => text.replaceAll("$${{", () => "${{");

function fillString(text: string, { variables, path, onFault }: TemplateOptions): Fill {
  const { parts, unclosed } = splitTemplates(text);
  if (unclosed !== undefined)
    onFault({ expression: text.slice(unclosed), reason: "the closing }} is missing", path });
  const compiled = parts.flatMap((part): (string | Expression)[] => {
    if (typeof part === "string") return [writeLiteral(part)];
    const { expression, mayBeAbsent } = part;
    try {
      return [compileExpression(expression, variables, mayBeAbsent)];
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      onFault({ expression, reason: error.message, path });
      return [];
    }
  });
  const [whole, ...others] = compiled;
  if (typeof whole === "function" && others.length === 0) return (evaluation) => whole(evaluation, false);
  return (evaluation) =>
    compiled.map((part) => (typeof part === "string" ? part : part(evaluation, true))).join("");
}

function compileFill(value: unknown, options: TemplateOptions): Fill {
  if (typeof value === "string") return value.includes("${{") ? fillString(value, options) : () => value;
  if (typeof value !== "object" || value === null) return () => value;
  const isList = Array.isArray(value);
  const fills = Object.entries(value).map(([key, entry]) => {
    const path = [...options.path, isList ? Number(key) : key];
    return [key, compileFill(entry, { ...options, path })] as const;
  });
  return (evaluation) => {
    const filled = fills.map(([key, fill]) => [key, fill(evaluation)] as const);
    const present = filled.filter(([, one]) => one !== absent);
    // `fromEntries` makes a key called __proto__ an ordinary key.
    return isList ? present.map(([, one]) => one) : Object.fromEntries(present);
  };
}

/**
 * Compiles a JSON value whose strings contain `${{ … }}`. Keys are not templates. The parser limits the depth. Never
 * throws.
 */
export function compileTemplate(value: unknown, options: TemplateOptions): Template {
  const fill = compileFill(value, options);
  return (scope) => fill(new Evaluation(scope));
}

/**
 * Compiles a condition, which must be exactly one template. Reports a fault for other strings, which would never be true.
 */
export function compileCondition(text: string, options: TemplateOptions): Template {
  const whole = text.trim();
  const { parts, unclosed } = splitTemplates(whole);
  const isOne = parts.length === 1 && typeof parts[0] === "object";
  if (unclosed === undefined && !isOne) {
    const reason = "a condition must be exactly one ${{ … }}";
    options.onFault({ expression: whole, reason, path: options.path });
  }
  return compileTemplate(whole, options);
}

const call = { name: true, arguments: true } as const;
const request: Shape = {
  ...call,
  meta: true,
  session: { id: true, clientInfo: true, capabilities: true },
};
const error: Shape = { code: true, message: true, data: true };

/** The keys of an entry whose strings may contain templates, with their variables. */
export const bundleVariables = {
  inputs: { request },
  result: { result: true, request: call },
  catches: { error, request },
} satisfies Record<string, Variables>;

/** A compiled element of `catches`. */
export interface CatchTemplates {
  /** The error code that it catches; `undefined` for any. */
  code: string | undefined;
  when: Template | undefined;
  /** Evaluates to the error to return: `code`, `message`, `data`. */
  error: Template;
}

/** The compiled templates of an entry. */
export interface EntryTemplates {
  inputs: Template | undefined;
  result: Template | undefined;
  catches: readonly CatchTemplates[];
}

/**
 * Compiles the templates of a bundle's entry at `path`. Reports every fault. Ignores values of the wrong shape, which are
 * faults of the definition.
 */
export function compileEntryTemplates(
  entry: Readonly<Record<string, unknown>>,
  path: Path,
  onFault: (fault: TemplateFault) => void,
): EntryTemplates {
  const at = (key: keyof typeof bundleVariables, ...rest: (string | number)[]): TemplateOptions => ({
    onFault,
    variables: bundleVariables[key],
    path: [...path, key, ...rest],
  });
  const { inputs, result, catches } = entry;
  return {
    inputs: inputs === undefined ? undefined : compileTemplate(inputs, at("inputs")),
    result: result === undefined ? undefined : compileTemplate(result, at("result")),
    catches: (Array.isArray(catches) ? catches.filter(isRecord) : []).map(({ code, when, error }, index) => ({
      code: typeof code === "string" || typeof code === "number" ? String(code) : undefined,
      when: typeof when === "string" ? compileCondition(when, at("catches", index, "when")) : undefined,
      error: compileTemplate(error, at("catches", index, "error")),
    })),
  };
}
