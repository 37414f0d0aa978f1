import { printable } from "../../problems/index.ts";
import { EvaluationBudget, EvaluationLimit } from "../evaluation-budget.ts";
import {
  absent,
  type CompileFault,
  type ExpressionEngine,
  ExpressionError,
  type Program,
  type Variables,
} from "../expression-engine.ts";
import { CelError } from "./cel-error.ts";
import { compileCel, compileStep } from "./compile-cel.ts";
import type { CompileContext, Run } from "./frame.ts";
import { type CelNode, parseCel } from "./parse-cel.ts";
import { CelOptional, countRead, toJson } from "./values.ts";

const longestReason = 300;

/** Converts anything that evaluation throws to a fault. Unknown errors are limits of JavaScript. */
function toFault(error: unknown): CompileFault {
  if (error instanceof EvaluationLimit) return { reason: error.message, offset: undefined };
  if (error instanceof CelError) {
    const { message, offset } = error;
    const reason = message.length > longestReason ? `${message.slice(0, longestReason)}…` : message;
    return { reason: printable(reason), offset };
  }
  if (error instanceof RangeError)
    return { reason: "it is nested too deeply or too large", offset: undefined };
  return { reason: "it has no value", offset: undefined };
}

/** True for an expression that only reads a variable, whose value is already JSON. */
function isPath(node: CelNode, variables: Variables): boolean {
  if (node.op === "id") return Object.hasOwn(variables, node.args);
  if (node.op === ".") return isPath(node.args[0], variables);
  return node.op === "[]" && node.args[1].op === "value" && isPath(node.args[0], variables);
}

/** Compiles an expression whose last member may be absent. */
function compileMarked(node: CelNode, context: CompileContext): Run {
  if (node.op === "." || node.op === "[]") {
    const { from, key, find } = compileStep(node, context);
    return (frame) => {
      const container = from(frame);
      const name = key(frame);
      const { content } = container instanceof CelOptional ? container : { content: container };
      const found = content === undefined ? undefined : find(content, name);
      return found === undefined ? absent : found;
    };
  }
  // The values of these are optional already.
  if (node.op === ".?" || node.op === "[?]" || node.op === "rcall") return compileCel(node, context);
  throw new CelError("? can follow only a key or an index, such as a.b?");
}

function createProgram(
  expression: string,
  run: Run,
  { isRead, mayBeAbsent }: { isRead: boolean; mayBeAbsent: boolean },
): Program {
  const finish = isRead ? countRead : toJson;
  const evaluate = <T>(
    scope: Readonly<Record<string, unknown>>,
    budget: EvaluationBudget,
    finishValue: (value: unknown, budget: EvaluationBudget) => T,
  ) => {
    try {
      const value = run({ scope, locals: [], budget });
      const isNone = value instanceof CelOptional && value.content === undefined;
      if (value === absent || (isNone && mayBeAbsent)) return absent;
      return finishValue(value, budget);
    } catch (error) {
      throw new ExpressionError(expression, toFault(error));
    }
  };
  /** Converts a value to a string. Ints keep all digits. */
  const toText = (value: unknown, budget: EvaluationBudget): string => {
    if (typeof value === "bigint") return String(value);
    const json = finish(value, budget);
    if (json === null) return "";
    return typeof json === "object" ? JSON.stringify(json) : String(json);
  };
  return {
    evaluate: (scope, budget = new EvaluationBudget()) => evaluate(scope, budget, finish),
    evaluateString: (scope, budget = new EvaluationBudget()) => {
      const text = evaluate(scope, budget, toText);
      return text === absent ? "" : text;
    },
  };
}

/** CEL with optional values (`a.?b`), mixed number types, patterns without backtracking, and limits on steps. */
export function createCelEngine(): ExpressionEngine {
  return {
    compile(expression, { variables, mayBeAbsent = false }) {
      try {
        const node = parseCel(expression);
        const context = { variables, locals: new Map(), slots: 0, depth: 0, loops: 0 };
        const run = mayBeAbsent ? compileMarked(node, context) : compileCel(node, context);
        const isRead = isPath(node, variables);
        return { program: createProgram(expression, run, { isRead, mayBeAbsent }) };
      } catch (error) {
        return { fault: toFault(error) };
      }
    },
  };
}
