// Makes functions of a syntax tree. Every name, function and literal pattern is checked here; the functions themselves
// only meet values of the wrong type.

import { findPattern, type LinearPattern } from "../../json-schema/patterns/linear-pattern.ts";
import type { Shape } from "../expression-engine.ts";
import { CelFault, locating } from "./fault.ts";
import type { Frame, Run, Surroundings } from "./frame.ts";
import { type CelFunction, compileMatch, functions, methods, typeNames } from "./functions.ts";
import { compileMacro } from "./macros.ts";
import { applyOperator, type BinaryOperator, negate } from "./operators.ts";
import { type CelNode, heightOf } from "./parse-cel.ts";
import { CelOptional, CelType, findMember, nameWithArticle, toKey } from "./values.ts";

const maximumDepth = 200;

const listNames = (shape: object) => Object.keys(shape).sort().join(", ");

/** What is known of the value of a part beforehand. */
function shapeOf(node: CelNode, around: Surroundings): Shape {
  if (node.op === "id") {
    if (around.locals.has(node.args) || !Object.hasOwn(around.variables, node.args)) return true;
    return around.variables[node.args] ?? true;
  }
  const key = readLiteralKey(node);
  if (key === undefined) return true;
  const shape = shapeOf(key.from, around);
  return shape !== true && Object.hasOwn(shape, key.name) ? (shape[key.name] ?? true) : true;
}

function readLiteralKey(node: CelNode): { from: CelNode; name: string } | undefined {
  if (node.op === "." || node.op === ".?") return { from: node.args[0], name: node.args[1] };
  if (node.op !== "[]" && node.op !== "[?]") return undefined;
  const [from, index] = node.args;
  return index.op === "value" && typeof index.args === "string" ? { from, name: index.args } : undefined;
}

/** A key that the shape of a variable does not have is a slip, and never has a value. */
function checkShape(node: CelNode, around: Surroundings): void {
  const key = readLiteralKey(node);
  if (key === undefined) return;
  const shape = shapeOf(key.from, around);
  if (shape === true || Object.hasOwn(shape, key.name)) return;
  throw new CelFault(`there is no ${key.name} here, only ${listNames(shape)}`, node.pos);
}

/** The value of a literal, in our types. */
function readLiteral(value: unknown): unknown {
  const isUnsigned = typeof value === "object" && value !== null && !(value instanceof Uint8Array);
  return isUnsigned ? value.valueOf() : value;
}

function compileName(node: CelNode & { op: "id" }, around: Surroundings): Run {
  const name = node.args;
  const place = around.locals.get(name);
  if (place !== undefined) return ({ locals }) => locals[place];
  if (Object.hasOwn(around.variables, name)) {
    return ({ scope }) => {
      if (Object.hasOwn(scope, name)) return scope[name];
      throw new CelFault(`${name} is not there`, node.pos);
    };
  }
  if (typeNames.includes(name)) {
    const type = new CelType(name);
    return () => type;
  }
  throw new CelFault(`there is no variable ${name} here, only ${listNames(around.variables)}`, node.pos);
}

/** A step from a value to a part of it. Behind an optional value it is optional, too. */
export function compileStep(
  node: CelNode & { op: "." | ".?" | "[]" | "[?]" },
  around: Surroundings,
): { from: Run; key: Run; find: (container: unknown, key: unknown) => unknown } {
  checkShape(node, around);
  const from = compileCel(node.args[0], around);
  const [, last] = node.args;
  const key = typeof last === "string" ? () => last : compileCel(last, around);
  return { from, key, find: (container, name) => locating(node.pos, () => findMember(container, name)) };
}

function compileAccess(node: CelNode & { op: "." | ".?" | "[]" | "[?]" }, around: Surroundings): Run {
  const { from, key, find } = compileStep(node, around);
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
      throw new CelFault(`there is no ${typeof name === "string" ? name : `element ${name}`}`, node.pos);
    return found;
  };
}

function compileMap(entries: readonly (readonly [CelNode, CelNode])[], around: Surroundings): Run {
  const compiled = entries.map(([key, value]) => ({
    key: compileCel(key, around),
    value: compileCel(value, around),
    at: key.pos,
  }));
  return (frame) => {
    // Without a prototype, a key called __proto__ is a key like any other.
    const map: Record<string, unknown> = Object.create(null);
    for (const { key, value, at } of compiled) {
      const name = locating(at, () => toKey(key(frame)));
      if (Object.hasOwn(map, name)) throw new CelFault(`the key ${name} is there twice`, at);
      map[name] = value(frame);
    }
    frame.budget.spendValues(3 * compiled.length);
    return map;
  };
}

function checkBool(value: unknown, node: CelNode): boolean {
  if (typeof value === "boolean") return value;
  throw new CelFault(`a condition is a bool, not ${nameWithArticle(value)}`, node.pos);
}

/** `&&` and `||`: a side that decides does so even where the other has no value. */
function compileLogical(node: CelNode & { op: "&&" | "||" }, around: Surroundings): Run {
  const [first, second] = node.args;
  const [one, other] = [compileCel(first, around), compileCel(second, around)];
  const decides = node.op === "||";
  const height = heightOf(first);
  return (frame) => {
    let fault: unknown;
    try {
      if (checkBool(one(frame), first) === decides) return decides;
    } catch (error) {
      if (!(error instanceof CelFault)) throw error;
      frame.budget.spendFault(height);
      fault = error;
    }
    if (checkBool(other(frame), second) === decides) return decides;
    if (fault !== undefined) throw fault;
    return !decides;
  };
}

function checkCount(name: string, { counts }: CelFunction, count: number, node: CelNode): void {
  if (counts.includes(count)) return;
  const wanted = `${counts.join(" or ")} argument${counts.at(-1) === 1 ? "" : "s"}`;
  throw new CelFault(`${name} takes ${wanted}, not ${count}`, node.pos);
}

function compileArguments(nodes: readonly CelNode[], around: Surroundings): (frame: Frame) => unknown[] {
  const runs = nodes.map((node) => compileCel(node, around));
  return (frame) => runs.map((run) => run(frame));
}

/** The pattern of `matches`, compiled once where it is a literal; a bad one is then a fault from the start. */
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
  around: Surroundings,
): Run {
  const called = known.get(name);
  if (called === undefined) throw new CelFault(`there is no function ${name}`, node.pos);
  checkCount(name, called, count, node);
  const args = compileArguments(nodes, around);
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

/** `or` and `orValue`, which work out their argument only where they need it. */
function compileAlternative(name: string, receiver: CelNode, argument: CelNode, around: Surroundings): Run {
  const [optional, alternative] = [compileCel(receiver, around), compileCel(argument, around)];
  return (frame) => {
    const value = optional(frame);
    if (!(value instanceof CelOptional))
      throw new CelFault(`${name} does not take ${nameWithArticle(value)}`, receiver.pos);
    if (value.content !== undefined) return name === "or" ? value : value.content;
    return alternative(frame);
  };
}

function compileMethod(node: CelNode & { op: "rcall" }, around: Surroundings): Run {
  const [name, receiver, args] = node.args;
  if (receiver.op === "id" && receiver.args === "optional" && !Object.hasOwn(around.variables, "optional")) {
    if (name === "none" && args.length === 0) return () => new CelOptional(undefined);
    const [content] = args;
    if (name === "of" && content !== undefined && args.length === 1) {
      const run = compileCel(content, around);
      return (frame) => new CelOptional(run(frame));
    }
  }
  const [first] = args;
  if ((name === "or" || name === "orValue") && first !== undefined && args.length === 1)
    return compileAlternative(name, receiver, first, around);
  return (
    compileMacro(node, around, compileCel) ??
    compileApplication(name, methods, [receiver, ...args], args.length, node, around)
  );
}

function compileHas(node: CelNode, args: readonly CelNode[], around: Surroundings): Run {
  const [tested] = args;
  if (args.length !== 1 || tested?.op !== ".")
    throw new CelFault("has takes one argument, as in has(a.b)", node.pos);
  const { from, key, find } = compileStep(tested, around);
  return (frame) => {
    const container = from(frame);
    const { content } = container instanceof CelOptional ? container : { content: container };
    return content !== undefined && find(content, key(frame)) !== undefined;
  };
}

function compileTernary(
  [condition, yes, no]: readonly [CelNode, CelNode, CelNode],
  around: Surroundings,
): Run {
  const [decide, first, second] = [condition, yes, no].map((node) => compileCel(node, around)) as [
    Run,
    Run,
    Run,
  ];
  return (frame) => (checkBool(decide(frame), condition) ? first : second)(frame);
}

/** Compiles a part of a syntax tree. Throws `CelFault` for names and functions that there are not. */
export function compileCel(node: CelNode, surroundings: Surroundings): Run {
  const around = { ...surroundings, depth: surroundings.depth + 1 };
  if (around.depth > maximumDepth) throw new CelFault("it nests too deep", node.pos);
  const run = compilePart(node, around);
  // Literals and names are paid for by what they are parts of.
  if (node.op === "value" || node.op === "id") return run;
  const steps = 1 + (Array.isArray(node.args) ? node.args.length : 0);
  return (frame) => {
    frame.budget.spend(steps);
    return run(frame);
  };
}

function compilePart(node: CelNode, around: Surroundings): Run {
  switch (node.op) {
    case "value": {
      const value = readLiteral(node.args);
      return () => value;
    }
    case "id":
      return compileName(node, around);
    case ".":
    case ".?":
    case "[]":
    case "[?]":
      return compileAccess(node, around);
    case "call": {
      const [name, args] = node.args;
      return name === "has"
        ? compileHas(node, args, around)
        : compileApplication(name, functions, args, args.length, node, around);
    }
    case "rcall":
      return compileMethod(node, around);
    case "list": {
      const elements = compileArguments(node.args, around);
      return (frame) => {
        frame.budget.spendValues(node.args.length);
        return elements(frame);
      };
    }
    case "map":
      return compileMap(node.args, around);
    case "?:":
      return compileTernary(node.args, around);
    case "&&":
    case "||":
      return compileLogical(node, around);
    case "!_": {
      const run = compileCel(node.args, around);
      return (frame) => !checkBool(run(frame), node.args);
    }
    case "-_": {
      const run = compileCel(node.args, around);
      return (frame) => locating(node.pos, () => negate(run(frame)));
    }
    default:
      return compileBinary(node, around);
  }
}

function compileBinary(node: CelNode & { op: BinaryOperator }, around: Surroundings): Run {
  const [left, right] = [compileCel(node.args[0], around), compileCel(node.args[1], around)];
  return (frame) => {
    const [one, other] = [left(frame), right(frame)];
    return locating(node.pos, () => applyOperator(node.op, one, other, frame.budget));
  };
}
