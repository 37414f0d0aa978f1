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
import { compileCel, compileStep } from "./compile-cel.ts";
import { CelFault } from "./fault.ts";
import type { Run, Surroundings } from "./frame.ts";
import { type CelNode, parseCel } from "./parse-cel.ts";
import { CelOptional, countRead, toJson } from "./values.ts";

const longestReason = 300;

/** A fault as the interface has it; whatever else was thrown is a bound of the engine below. */
function toFault(error: unknown): CompileFault {
  if (error instanceof EvaluationLimit) return { reason: error.message, offset: undefined };
  if (error instanceof CelFault) {
    const { message, offset } = error;
    const reason = message.length > longestReason ? `${message.slice(0, longestReason)}…` : message;
    return { reason: printable(reason), offset };
  }
  if (error instanceof RangeError)
    return { reason: "it nests too deep or grows too large", offset: undefined };
  return { reason: "it has no value", offset: undefined };
}

/** True for what only reads a variable: its value is JSON, and as large as what is there already. */
function isPath(node: CelNode, variables: Variables): boolean {
  if (node.op === "id") return Object.hasOwn(variables, node.args);
  if (node.op === ".") return isPath(node.args[0], variables);
  return node.op === "[]" && node.args[1].op === "value" && isPath(node.args[0], variables);
}

/** An expression of which only the last step may lead nowhere: what comes before it is read as ever. */
function compileMarked(node: CelNode, around: Surroundings): Run {
  if (node.op === "." || node.op === "[]") {
    const { from, key, find } = compileStep(node, around);
    return (frame) => {
      const container = from(frame);
      const name = key(frame);
      const { content } = container instanceof CelOptional ? container : { content: container };
      const found = content === undefined ? undefined : find(content, name);
      return found === undefined ? absent : found;
    };
  }
  // These say by themselves that they may be absent.
  if (node.op === ".?" || node.op === "[?]" || node.op === "rcall") return compileCel(node, around);
  throw new CelFault("only a value that is read, as in a.b?, can be marked with ?");
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
  /** An int keeps all its digits. */
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

/** CEL, with optional values (`a.?b`), numbers that mix freely, patterns without backtracking, and bounds on its work. */
export function createCelEngine(): ExpressionEngine {
  return {
    compile(expression, { variables, mayBeAbsent = false }) {
      try {
        const node = parseCel(expression);
        const around = { variables, locals: new Map(), places: 0, depth: 0, loops: 0 };
        const run = mayBeAbsent ? compileMarked(node, around) : compileCel(node, around);
        const isRead = isPath(node, variables);
        return { program: createProgram(expression, run, { isRead, mayBeAbsent }) };
      } catch (error) {
        return { fault: toFault(error) };
      }
    },
  };
}
