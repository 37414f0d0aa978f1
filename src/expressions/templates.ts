import { isRecord } from "../data/parse-json.ts";
import type { Path } from "../problems/index.ts";
import {
  absent,
  beginEvaluation,
  compileExpression,
  type Expression,
  isExpression,
  type Shape,
  type Values,
  type Variables,
} from "./cel.ts";

/** How many `}}` of one string may be part of expressions, in nested maps and in strings. */
const mostInner = 100;

/** Reads the text between the braces. `mayBeAbsent`: it ends with `?`, so that an absent value omits its key or element. */
function readTemplate(text: string) {
  const inner = text.trim();
  const mayBeAbsent = inner.endsWith("?");
  return { expression: mayBeAbsent ? inner.slice(0, -1).trim() : inner, mayBeAbsent };
}

/** Splits a string at its templates. `$${{` is a literal `${{`. `unclosed` is what begins with a template that has no end. */
export function splitTemplates(text: string) {
  const parts: (string | ReturnType<typeof readTemplate>)[] = [];
  let inner = 0;
  /** The `}}` that closes an expression: the first one after valid CEL, else the first; -1 if there is none. */
  const findEnd = (start: number): number => {
    const first = text.indexOf("}}", start);
    for (let end = first; end >= 0 && inner < mostInner; inner++) {
      if (isExpression(readTemplate(text.slice(start, end)).expression)) return end;
      end = text.indexOf("}}", end + 1);
    }
    return first;
  };
  const addText = (literal: string) => {
    if (literal !== "") parts.push(literal.replaceAll("$${{", () => "${{"));
  };
  let at = 0;
  let unclosed: string | undefined;
  for (const { index } of text.matchAll(/(?<!\$)\$\{\{/g)) {
    if (index < at) continue;
    const close = findEnd(index + 3);
    if (close < 0) {
      unclosed = text.slice(index);
      break;
    }
    addText(text.slice(at, index));
    parts.push(readTemplate(text.slice(index + 3, close)));
    at = close + 2;
  }
  addText(text.slice(at));
  return { parts, unclosed };
}

/** An expression that does not compile, with its path. `reason` continues a message after a colon. */
export interface TemplateFault {
  expression: string;
  reason: string;
  path: Path;
}

export interface TemplateOptions {
  variables: Variables;
  path: Path;
  /** Called for each fault. Compilation continues. */
  onFault: (fault: TemplateFault) => void;
}

/** Evaluates a part: returns its value, or `absent` to omit its key or element. */
type Fill = (values: Values) => unknown;

/**
 * A compiled value that contains templates. Returns it with evaluated templates: new JSON; `absent` if the whole value is one
 * template without a value. Throws an `Error` for people. All templates share one limit of steps.
 */
export type Template = (scope: Readonly<Record<string, unknown>>) => unknown;

function fillString(text: string, { variables, path, onFault }: TemplateOptions): Fill {
  const { parts, unclosed } = splitTemplates(text);
  if (unclosed !== undefined) onFault({ expression: unclosed, reason: "the closing }} is missing", path });
  const compiled = parts.map((part): string | Expression => {
    if (typeof part === "string") return part;
    const { expression, mayBeAbsent } = part;
    const result = compileExpression(expression, variables, mayBeAbsent);
    if (typeof result === "string") onFault({ expression, reason: result, path });
    return result;
  });
  const [whole, ...others] = compiled;
  if (typeof whole === "function" && others.length === 0) return (values) => whole(values, false);
  return (values) => compiled.map((part) => (typeof part === "string" ? part : part(values, true))).join("");
}

function compileFill(value: unknown, options: TemplateOptions): Fill {
  if (typeof value === "string") return value.includes("${{") ? fillString(value, options) : () => value;
  if (typeof value !== "object" || value === null) return () => value;
  const isList = Array.isArray(value);
  const fills = Object.entries(value).map(([key, entry]) => {
    const path = [...options.path, isList ? Number(key) : key];
    return [key, compileFill(entry, { ...options, path })] as const;
  });
  return (values) => {
    const filled = fills.map(([key, fill]) => [key, fill(values)] as const);
    const present = filled.filter(([, one]) => one !== absent);
    // `fromEntries` makes a key called __proto__ an ordinary key.
    return isList ? present.map(([, one]) => one) : Object.fromEntries(present);
  };
}

/** Compiles a JSON value whose strings contain `${{ … }}`. Keys are not templates. The parser limits the depth. */
export function compileTemplate(value: unknown, options: TemplateOptions): Template {
  const fill = compileFill(value, options);
  return (scope) => fill(beginEvaluation(scope));
}

/** Compiles a condition. A string that is not exactly one template would never be true. */
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

/** Compiles the templates of an entry at `path`. Values of the wrong shape are faults of the definition, not of templates. */
export function compileEntryTemplates(
  { inputs, result, catches }: Readonly<Record<string, unknown>>,
  path: Path,
  onFault: (fault: TemplateFault) => void,
) {
  const at = (key: keyof typeof bundleVariables, ...rest: (string | number)[]): TemplateOptions => ({
    onFault,
    variables: bundleVariables[key],
    path: [...path, key, ...rest],
  });
  return {
    inputs: inputs === undefined ? undefined : compileTemplate(inputs, at("inputs")),
    result: result === undefined ? undefined : compileTemplate(result, at("result")),
    catches: (Array.isArray(catches) ? catches.filter(isRecord) : []).map(({ code, when, error }, index) => ({
      /** The error code that it catches; `undefined` for any. */
      code: typeof code === "string" || typeof code === "number" ? String(code) : undefined,
      when: typeof when === "string" ? compileCondition(when, at("catches", index, "when")) : undefined,
      /** Evaluates to the error to return: `code`, `message`, `data`. */
      error: compileTemplate(error, at("catches", index, "error")),
    })),
  };
}

export type EntryTemplates = ReturnType<typeof compileEntryTemplates>;
