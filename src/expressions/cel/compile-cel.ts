// Compiles a syntax tree to functions. Names, functions and literal patterns are checked at compile time, types of values
// at run time.

import { findPattern, type LinearPattern } from "../../json-schema/patterns/linear-pattern.ts";
import type { Shape } from "../expression-engine.ts";
import { CelError, locating } from "./cel-error.ts";
import type { CompileContext, Frame, Run } from "./frame.ts";
import { type CelFunction, compileMatch, functions, methods, typeNames } from "./functions.ts";
import { compileMacro } from "./macros.ts";
import { applyOperator, type BinaryOperator, negate } from "./operators.ts";
import { type CelNode, heightOf } from "./parse-cel.ts";
import { CelOptional, CelType, findMember, nameWithArticle, toKey } from "./values.ts";

const maximumDepth = 200;

const listNames = (shape: object) => Object.keys(shape).sort().join(", ");

/** The statically known shape of a part's value. */
function shapeOf(node: CelNode, context: CompileContext): Shape {
  if (node.op === "id") {
    if (context.locals.has(node.args) || !Object.hasOwn(context.variables, node.args)) return true;
    return context.variables[node.args] ?? true;
  }
  const key = readLiteralKey(node);
  if (key === undefined) return true;
  const shape = shapeOf(key.from, context);
  return shape !== true && Object.hasOwn(shape, key.name) ? (shape[key.name] ?? true) : true;
}

function readLiteralKey(node: CelNode): { from: CelNode; name: string } | undefined {
  if (node.op === "." || node.op === ".?") return { from: node.args[0], name: node.args[1] };
  if (node.op !== "[]" && node.op !== "[?]") return undefined;
  const [from, index] = node.args;
  return index.op === "value" && typeof index.args === "string" ? { from, name: index.args } : undefined;
}

/** Throws `CelError` for a key that the shape of a variable excludes. */
function checkShape(node: CelNode, context: CompileContext): void {
  const key = readLiteralKey(node);
  if (key === undefined) return;
  const shape = shapeOf(key.from, context);
  if (shape === true || Object.hasOwn(shape, key.name)) return;
  throw new CelError(`unknown key ${key.name}: the known keys are ${listNames(shape)}`, node.pos);
}

/** Converts the parser's literal to a value. */
function readLiteral(value: unknown): unknown {
  const isUnsigned = typeof value === "object" && value !== null && !(value instanceof Uint8Array);
  return isUnsigned ? value.valueOf() : value;
}

function compileName(node: CelNode & { op: "id" }, context: CompileContext): Run {
  const name = node.args;
  const place = context.locals.get(name);
  if (place !== undefined) return ({ locals }) => locals[place];
  if (Object.hasOwn(context.variables, name)) {
    return ({ scope }) => {
      if (Object.hasOwn(scope, name)) return scope[name];
      throw new CelError(`${name} has no value`, node.pos);
    };
  }
  if (typeNames.includes(name)) {
    const type = new CelType(name);
    return () => type;
  }
  throw new CelError(
    `unknown variable ${name}: the known variables are ${listNames(context.variables)}`,
    node.pos,
  );
}

/** Compiles access to a member of a value. */
export function compileStep(
  node: CelNode & { op: "." | ".?" | "[]" | "[?]" },
  context: CompileContext,
): { from: Run; key: Run; find: (container: unknown, key: unknown) => unknown } {
  checkShape(node, context);
  const from = compileCel(node.args[0], context);
  const [, last] = node.args;
  const key = typeof last === "string" ? () => last : compileCel(last, context);
  return { from, key, find: (container, name) => locating(node.pos, () => findMember(container, name)) };
}

function compileAccess(node: CelNode & { op: "." | ".?" | "[]" | "[?]" }, context: CompileContext): Run {
  const { from, key, find } = compileStep(node, context);
  const isOptional = node.op === ".?" || node.op === "[?]";
  return (frame) => {
    const container = from(frame);
    const name = key(frame);
    if (container instanceof CelOptional) {
      const { content } = container;
      return new CelOptional(content === undefined ? undefined : find(content, name));
    }
    const found = find(container, name);
    if (isOptional) return new CelOptional(found);
    if (found === undefined)
      throw new CelError(`${typeof name === "string" ? name : `element ${name}`} does not exist`, node.pos);
    return found;
  };
}

function compileMap(entries: readonly (readonly [CelNode, CelNode])[], context: CompileContext): Run {
  const compiled = entries.map(([key, value]) => ({
    key: compileCel(key, context),
    value: compileCel(value, context),
    at: key.pos,
  }));
  return (frame) => {
    // No prototype, so that a key called __proto__ is an ordinary key.
    const map: Record<string, unknown> = Object.create(null);
    for (const { key, value, at } of compiled) {
      const name = locating(at, () => toKey(key(frame)));
      if (Object.hasOwn(map, name)) throw new CelError(`the key ${name} is duplicated`, at);
      map[name] = value(frame);
    }
    frame.budget.spendValues(3 * compiled.length);
    return map;
  };
}

function checkBool(value: unknown, node: CelNode): boolean {
  if (typeof value === "boolean") return value;
  throw new CelError(`a condition must be a bool, but it is ${nameWithArticle(value)}`, node.pos);
}

/** `&&` and `||`: one side can decide the result even if the other one fails. */
function compileLogical(node: CelNode & { op: "&&" | "||" }, context: CompileContext): Run {
  const [first, second] = node.args;
  const [one, other] = [compileCel(first, context), compileCel(second, context)];
  const decides = node.op === "||";
  const height = heightOf(first);
  return (frame) => {
    let caught: unknown;
    try {
      if (checkBool(one(frame), first) === decides) return decides;
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      frame.budget.spendError(height);
      caught = error;
    }
    if (checkBool(other(frame), second) === decides) return decides;
    if (caught !== undefined) throw caught;
    return !decides;
  };
}

function checkCount(name: string, { counts }: CelFunction, count: number, node: CelNode): void {
  if (counts.includes(count)) return;
  const expected = `${counts.join(" or ")} argument${counts.at(-1) === 1 ? "" : "s"}`;
  throw new CelError(`${name} takes ${expected}, but it has ${count}`, node.pos);
}

function compileArguments(nodes: readonly CelNode[], context: CompileContext): (frame: Frame) => unknown[] {
  const runs = nodes.map((node) => compileCel(node, context));
  return (frame) => runs.map((run) => run(frame));
}

/** Compiles a literal pattern of `matches` once, so that an invalid one is an error of compilation. */
function compileLiteralPattern(name: string, argument: CelNode | undefined): LinearPattern | undefined {
  if (name !== "matches" || argument?.op !== "value" || typeof argument.args !== "string") return undefined;
  const pattern = argument.args;
  return locating(argument.pos, () => compileMatch(pattern));
}

function compileApplication(
  name: string,
  known: ReadonlyMap<string, CelFunction>,
  nodes: readonly CelNode[],
  count: number,
  node: CelNode,
  context: CompileContext,
): Run {
  const called = known.get(name);
  if (called === undefined) throw new CelError(`unknown function ${name}`, node.pos);
  checkCount(name, called, count, node);
  const args = compileArguments(nodes, context);
  const pattern = compileLiteralPattern(name, nodes[1]);
  return (frame) => {
    const values = args(frame);
    return locating(node.pos, () =>
      pattern !== undefined && typeof values[0] === "string"
        ? findPattern(pattern, values[0], frame.budget)
        : called.apply(values, frame.budget),
    );
  };
}

/** `or` and `orValue`, which evaluate their argument lazily. */
function compileAlternative(
  name: string,
  receiver: CelNode,
  argument: CelNode,
  context: CompileContext,
): Run {
  const [optional, alternative] = [compileCel(receiver, context), compileCel(argument, context)];
  return (frame) => {
    const value = optional(frame);
    if (!(value instanceof CelOptional))
      throw new CelError(`${name} does not accept ${nameWithArticle(value)}`, receiver.pos);
    if (value.content !== undefined) return name === "or" ? value : value.content;
    return alternative(frame);
  };
}

function compileMethod(node: CelNode & { op: "rcall" }, context: CompileContext): Run {
  const [name, receiver, args] = node.args;
  if (receiver.op === "id" && receiver.args === "optional" && !Object.hasOwn(context.variables, "optional")) {
    if (name === "none" && args.length === 0) return () => new CelOptional(undefined);
    const [content] = args;
    if (name === "of" && content !== undefined && args.length === 1) {
      const run = compileCel(content, context);
      return (frame) => new CelOptional(run(frame));
    }
  }
  const [first] = args;
  if ((name === "or" || name === "orValue") && first !== undefined && args.length === 1)
    return compileAlternative(name, receiver, first, context);
  return (
    compileMacro(node, context, compileCel) ??
    compileApplication(name, methods, [receiver, ...args], args.length, node, context)
  );
}

function compileHas(node: CelNode, args: readonly CelNode[], context: CompileContext): Run {
  const [tested] = args;
  if (args.length !== 1 || tested?.op !== ".")
    throw new CelError("has takes one argument with a key, such as has(a.b)", node.pos);
  const { from, key, find } = compileStep(tested, context);
  return (frame) => {
    const container = from(frame);
    const { content } = container instanceof CelOptional ? container : { content: container };
    return content !== undefined && find(content, key(frame)) !== undefined;
  };
}

function compileTernary(
  [condition, yes, no]: readonly [CelNode, CelNode, CelNode],
  context: CompileContext,
): Run {
  const [decide, first, second] = [condition, yes, no].map((node) => compileCel(node, context)) as [
    Run,
    Run,
    Run,
  ];
  return (frame) => (checkBool(decide(frame), condition) ? first : second)(frame);
}

/** Compiles a part of a syntax tree. Throws `CelError` for unknown names and functions. */
export function compileCel(node: CelNode, outer: CompileContext): Run {
  const context = { ...outer, depth: outer.depth + 1 };
  if (context.depth > maximumDepth) throw new CelError("it is nested too deeply", node.pos);
  const run = compilePart(node, context);
  // The enclosing part pays for literals and names.
  if (node.op === "value" || node.op === "id") return run;
  const steps = 1 + (Array.isArray(node.args) ? node.args.length : 0);
  return (frame) => {
    frame.budget.spend(steps);
    return run(frame);
  };
}

function compilePart(node: CelNode, context: CompileContext): Run {
  switch (node.op) {
    case "value": {
      const value = readLiteral(node.args);
      return () => value;
    }
    case "id":
      return compileName(node, context);
    case ".":
    case ".?":
    case "[]":
    case "[?]":
      return compileAccess(node, context);
    case "call": {
      const [name, args] = node.args;
      return name === "has"
        ? compileHas(node, args, context)
        : compileApplication(name, functions, args, args.length, node, context);
    }
    case "rcall":
      return compileMethod(node, context);
    case "list": {
      const elements = compileArguments(node.args, context);
      return (frame) => {
        frame.budget.spendValues(node.args.length);
        return elements(frame);
      };
    }
    case "map":
      return compileMap(node.args, context);
    case "?:":
      return compileTernary(node.args, context);
    case "&&":
    case "||":
      return compileLogical(node, context);
    case "!_": {
      const run = compileCel(node.args, context);
      return (frame) => !checkBool(run(frame), node.args);
    }
    case "-_": {
      const run = compileCel(node.args, context);
      return (frame) => locating(node.pos, () => negate(run(frame)));
    }
    default:
      return compileBinary(node, context);
  }
}

function compileBinary(node: CelNode & { op: BinaryOperator }, context: CompileContext): Run {
  const [left, right] = [compileCel(node.args[0], context), compileCel(node.args[1], context)];
  return (frame) => {
    const [one, other] = [left(frame), right(frame)];
    return locating(node.pos, () => applyOperator(node.op, one, other, frame.budget));
  };
}
