// The loops of CEL, and `cel.bind`.

import type { EvaluationBudget } from "../evaluation-budget.ts";
import { CelError } from "./cel-error.ts";
import type { Compile, CompileContext, Frame, Run } from "./frame.ts";
import { type CelNode, heightOf } from "./parse-cel.ts";
import { type CelMap, nameWithArticle, typeOf } from "./values.ts";

const maximumLoops = 4;

/** The parts of a loop. */
interface Loop {
  /** Elements of a list, or keys of a map. */
  elements: (frame: Frame) => readonly unknown[];
  /** Evaluates the first body for an element. */
  test: (frame: Frame, element: unknown) => unknown;
  second: Run | undefined;
  /** The height of the first body. */
  height: number;
}

type Macro = (loop: Loop) => Run;

function listElements(value: unknown, node: CelNode, budget: EvaluationBudget): readonly unknown[] {
  const type = typeOf(value);
  if (type === "list") return value as readonly unknown[];
  if (type === "map") {
    const keys = Object.keys(value as CelMap);
    budget.spendValues(keys.length);
    return keys;
  }
  throw new CelError(`a loop needs a list or a map, but it has ${nameWithArticle(value)}`, node.pos);
}

function checkTest(value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw new CelError(`a condition must be a bool, but it is ${nameWithArticle(value)}`);
}

/** `all` and `exists`: one element can decide the result even if others fail. */
const quantify =
  (decides: boolean): Macro =>
  ({ elements, test, height }) =>
  (frame) => {
    let first: CelError | undefined;
    for (const element of elements(frame)) {
      try {
        if (checkTest(test(frame, element)) === decides) return decides;
      } catch (error) {
        if (!(error instanceof CelError)) throw error;
        frame.budget.spendError(height);
        first ??= error;
      }
    }
    if (first !== undefined) throw first;
    return !decides;
  };

const filter: Macro =
  ({ elements, test }) =>
  (frame) =>
    elements(frame).filter((element) => checkTest(test(frame, element)));

const existsOne: Macro = (loop) => (frame) => (filter(loop)(frame) as unknown[]).length === 1;

const map: Macro =
  ({ elements, test, second }) =>
  (frame) => {
    if (second === undefined) return elements(frame).map((element) => test(frame, element));
    return elements(frame).flatMap((element) => (checkTest(test(frame, element)) ? [second(frame)] : []));
  };

/** By name and number of arguments, including the variable. */
const macros: ReadonlyMap<string, Macro> = new Map([
  ["all/2", quantify(false)],
  ["exists/2", quantify(true)],
  ["exists_one/2", existsOne],
  ["filter/2", filter],
  ["map/2", map],
  ["map/3", map],
]);

/** Declares the variable of a loop or binding: returns its slot and the context inside. */
function declare(node: CelNode | undefined, context: CompileContext, loops: number, at: CelNode) {
  if (node?.op !== "id") throw new CelError("the first argument must be the name of a variable", at.pos);
  // A variable that shadows another one gets its own slot.
  const slot = context.slots;
  const locals = new Map([...context.locals, [node.args, slot] as const]);
  return { slot, inside: { ...context, locals, slots: slot + 1, loops: context.loops + loops } };
}

function compileBind(
  args: readonly CelNode[],
  node: CelNode,
  context: CompileContext,
  compile: Compile,
): Run {
  const [variable, value, body] = args;
  if (value === undefined || body === undefined || args.length !== 3)
    throw new CelError(`bind takes 3 arguments, but it has ${args.length}`, node.pos);
  const { slot, inside } = declare(variable, context, 0, node);
  const [bound, run] = [compile(value, context), compile(body, inside)];
  return (frame) => {
    frame.locals[slot] = bound(frame);
    return run(frame);
  };
}

/** Compiles a loop or a binding; `undefined` for a call that is neither. */
export function compileMacro(
  node: CelNode & { op: "rcall" },
  context: CompileContext,
  compile: Compile,
): Run | undefined {
  const [name, receiver, args] = node.args;
  if (name === "bind" && receiver.op === "id" && receiver.args === "cel")
    return compileBind(args, node, context, compile);
  const macro = macros.get(`${name}/${args.length}`);
  if (macro === undefined) return undefined;
  const [variable, first, last] = args;
  if (first === undefined) return undefined;
  const over = compile(receiver, context);
  const { slot, inside } = declare(variable, context, 1, node);
  if (inside.loops > maximumLoops)
    throw new CelError(`loops are nested more than ${maximumLoops} levels deep`, node.pos);
  const run = compile(first, inside);
  return macro({
    elements: (frame) => listElements(over(frame), receiver, frame.budget),
    test: (frame, element) => {
      frame.budget.spendTurn();
      frame.locals[slot] = element;
      return run(frame);
    },
    second: last === undefined ? undefined : compile(last, inside),
    height: heightOf(first),
  });
}
