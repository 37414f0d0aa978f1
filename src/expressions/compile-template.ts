import type { Path } from "../problems/index.ts";
import { EvaluationBudget } from "./evaluation-budget.ts";
import {
  absent,
  type CompileFault,
  type ExpressionEngine,
  type Program,
  type Variables,
} from "./expression-engine.ts";
import { findTemplates } from "./find-templates.ts";

/** Keys and indexes from the top of what holds the templates. */
export type TemplatePath = Path;

/** An expression that does not compile, and where it stands. `offset` is counted from the expression's start. */
export interface TemplateFault extends CompileFault {
  expression: string;
  path: TemplatePath;
}

export interface TemplateOptions {
  engine: ExpressionEngine;
  variables: Variables;
  /** Where the value stands. */
  path: TemplatePath;
  /** Told each fault; the rest is compiled nevertheless. */
  onFault: (fault: TemplateFault) => void;
}

/** What evaluating a part gives: its value, or `absent`, where its key or element is to be left out. */
type Fill = (scope: Readonly<Record<string, unknown>>, budget: EvaluationBudget) => unknown;

/** A value with templates in it, compiled. */
export interface Template {
  /**
   * The value with its templates filled in: JSON that shares nothing with any other evaluation but what the variables
   * hold; `absent` where the whole is one template that leads nowhere. Throws `ExpressionError`. All templates in it
   * share one budget of work, which ends early once `isOverdue` says so.
   */
  evaluate(scope: Readonly<Record<string, unknown>>, isOverdue?: () => boolean): unknown;
}

const writeLiteral = (text: string) => text.replaceAll("$${{", () => "${{");

function fillString(text: string, options: TemplateOptions): Fill {
  const { engine, variables, path, onFault } = options;
  const { templates, unclosed } = findTemplates(text);
  if (unclosed !== undefined) {
    onFault({
      expression: text.slice(unclosed),
      reason: "}} is missing at its end",
      offset: undefined,
      path,
    });
  }
  const parts: (string | Program)[] = [];
  let at = 0;
  for (const { expression, mayBeAbsent, start, end } of templates) {
    parts.push(writeLiteral(text.slice(at, start)));
    const compiled = engine.compile(expression, { variables, mayBeAbsent });
    if ("fault" in compiled) onFault({ expression, path, ...compiled.fault });
    else parts.push(compiled.program);
    at = end;
  }
  const [first] = templates;
  const [, whole] = parts;
  if (first?.start === 0 && first.end === text.length && typeof whole === "object") {
    return (scope, budget) => whole.evaluate(scope, budget);
  }
  parts.push(writeLiteral(text.slice(at)));
  return (scope, budget) =>
    parts.map((part) => (typeof part === "string" ? part : part.evaluateString(scope, budget))).join("");
}

function fillList(list: readonly unknown[], options: TemplateOptions): Fill {
  const fills = list.map((element, index) =>
    compileFill(element, { ...options, path: [...options.path, index] }),
  );
  return (scope, budget) => fills.map((fill) => fill(scope, budget)).filter((value) => value !== absent);
}

function fillObject(object: object, options: TemplateOptions): Fill {
  const fills = Object.entries(object).map(
    ([key, value]) => [key, compileFill(value, { ...options, path: [...options.path, key] })] as const,
  );
  return (scope, budget) =>
    // From entries, so that a key called __proto__ is a key like any other.
    Object.fromEntries(
      fills.map(([key, fill]) => [key, fill(scope, budget)] as const).filter(([, value]) => value !== absent),
    );
}

function compileFill(value: unknown, options: TemplateOptions): Fill {
  if (typeof value === "string") {
    return value.includes("${{") ? fillString(value, options) : () => value;
  }
  if (typeof value !== "object" || value === null) return () => value;
  return Array.isArray(value) ? fillList(value, options) : fillObject(value, options);
}

/**
 * Compiles a value of JSON whose strings hold `${{ … }}`; the depth of definitions is bounded by their parser. Keys are
 * left as they are. Never throws.
 */
export function compileTemplate(value: unknown, options: TemplateOptions): Template {
  const fill = compileFill(value, options);
  return { evaluate: (scope, isOverdue) => fill(scope, new EvaluationBudget(isOverdue)) };
}

/**
 * Compiles a string that is a condition: one template and nothing else. The fault where it is not says so, since a string
 * is never true.
 */
export function compileCondition(text: string, options: TemplateOptions): Template {
  const whole = text.trim();
  const { templates, unclosed } = findTemplates(whole);
  const [first] = templates;
  if (unclosed === undefined && (first === undefined || first.start !== 0 || first.end !== whole.length)) {
    const reason = "a condition is one ${{ … }} and nothing else";
    options.onFault({ expression: whole, reason, offset: undefined, path: options.path });
  }
  return compileTemplate(whole, options);
}
