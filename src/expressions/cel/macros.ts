// The loops of CEL, and `cel.bind`.

import type { EvaluationBudget } from "../evaluation-budget.ts";
import { CelFault } from "./fault.ts";
import type { Compile, Frame, Run, Surroundings } from "./frame.ts";
import { type CelNode, heightOf } from "./parse-cel.ts";
import { type CelMap, nameWithArticle, typeOf } from "./values.ts";

const maximumLoops = 4;

/** What a loop is made of: sets its variable, then runs. */
interface Loop {
  /** Elements of the list, or keys of the map. */
  elements: (frame: Frame) => readonly unknown[];
  /** What the first body says of an element. */
  test: (frame: Frame, element: unknown) => unknown;
  second: Run | undefined;
  /** Of the first body. */
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
  throw new CelFault(`a loop goes over a list or a map, not ${nameWithArticle(value)}`, node.pos);
}

function checkTest(value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw new CelFault(`a condition is a bool, not ${nameWithArticle(value)}`);
}

/** `all` and `exists`: an element that decides does so even where others have no value. */
const quantify =
  (decides: boolean): Macro =>
  ({ elements, test, height }) =>
  (frame) => {
    let fault: CelFault | undefined;
    for (const element of elements(frame)) {
      try {
        if (checkTest(test(frame, element)) === decides) return decides;
      } catch (error) {
        if (!(error instanceof CelFault)) throw error;
        frame.budget.spendFault(height);
        fault ??= error;
      }
    }
    if (fault !== undefined) throw fault;
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

/** By name and count of arguments, the variable among them. */
const macros: ReadonlyMap<string, Macro> = new Map([
  ["all/2", quantify(false)],
  ["exists/2", quantify(true)],
  ["exists_one/2", existsOne],
  ["filter/2", filter],
  ["map/2", map],
  ["map/3", map],
]);

/** The surroundings inside a loop or a binding, and the place of its variable. */
function declare(node: CelNode | undefined, around: Surroundings, loops: number, at: CelNode) {
  if (node?.op !== "id") throw new CelFault("the first argument names a variable", at.pos);
  // A name that is taken gets a place of its own, too: what is outside goes on seeing the other.
  const place = around.places;
  const locals = new Map([...around.locals, [node.args, place] as const]);
  return { place, inside: { ...around, locals, places: place + 1, loops: around.loops + loops } };
}

function compileBind(args: readonly CelNode[], node: CelNode, around: Surroundings, compile: Compile): Run {
  const [variable, value, body] = args;
  if (value === undefined || body === undefined || args.length !== 3)
    throw new CelFault(`bind takes 3 arguments, not ${args.length}`, node.pos);
  const { place, inside } = declare(variable, around, 0, node);
  const [bound, run] = [compile(value, around), compile(body, inside)];
  return (frame) => {
    frame.locals[place] = bound(frame);
    return run(frame);
  };
}

/** Compiles a loop or a binding; `undefined` for a call that is neither. */
export function compileMacro(
  node: CelNode & { op: "rcall" },
  around: Surroundings,
  compile: Compile,
): Run | undefined {
  const [name, receiver, args] = node.args;
  if (name === "bind" && receiver.op === "id" && receiver.args === "cel")
    return compileBind(args, node, around, compile);
  const macro = macros.get(`${name}/${args.length}`);
  if (macro === undefined) return undefined;
  const [variable, first, last] = args;
  if (first === undefined) return undefined;
  const over = compile(receiver, around);
  const { place, inside } = declare(variable, around, 1, node);
  if (inside.loops > maximumLoops)
    throw new CelFault(`more than ${maximumLoops} loops inside each other`, node.pos);
  const run = compile(first, inside);
  return macro({
    elements: (frame) => listElements(over(frame), receiver, frame.budget),
    test: (frame, element) => {
      frame.budget.spendTurn();
      frame.locals[place] = element;
      return run(frame);
    },
    second: last === undefined ? undefined : compile(last, inside),
    height: heightOf(first),
  });
}
