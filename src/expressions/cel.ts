// CEL as cel-js parses and evaluates it. Before cel-js checks a syntax tree, it is changed: types are known only when an
// expression is evaluated, every part counts its steps, and maps, members and a few functions follow the rules of JSON.
import {
  TypeError as CheckError,
  Environment,
  EvaluationError,
  Optional,
  ParseError,
} from "@marcbachmann/cel-js";
import { Duration } from "@marcbachmann/cel-js/evaluator";
import { memoize } from "../data/memoize.ts";
import { compilePattern, findPattern, type LinearPattern } from "../json-schema/patterns/linear-pattern.ts";
import { printable, quote } from "../problems/index.ts";

/** What is known of a variable when an expression is compiled: `true` for any JSON, or an object with all its keys. */
export type Shape = true | { readonly [key: string]: Shape };

export type Variables = Readonly<Record<string, Shape>>;

/** The result of an expression marked with `?` whose last member does not exist. */
export const absent: unique symbol = Symbol("absent");

const longestExpression = 20_000;
const maximumLoops = 2;
/** A few seconds at most. */
const maximumSteps = 20_000_000;
/** The cost of each part of an expression that an error passes. */
const stepsPerError = 60;
/** The cost of each character and step of a pattern that is compiled. */
const stepsPerPattern = 20;

// Evaluations are synchronous, so there is one at a time.
let stepsLeft = 0;

const exceedsLimit = () =>
  new EvaluationError(`it exceeds the limit of ${maximumSteps.toLocaleString("en-US")} steps`);

/** Counts steps of the evaluation. Throws, from then on each time, if there are none left. */
function spend(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft < 0) throw exceedsLimit();
}

/** Those of an evaluation, in which loops may match with one many times. */
const patterns = new Map<string, { value: LinearPattern | string }>();
const compileOnce = memoize((pattern: string) => {
  const compiled = compilePattern(pattern);
  spend(stepsPerPattern * (pattern.length + compiled.length));
  return compiled;
}, patterns);

/** Converts JSON for cel-js. Objects become maps, because it cannot read keys such as `constructor` of objects. */
function toCel(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(toCel);
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return new Map(entries.map(([key, member]) => [key, toCel(member)]));
}

/** The variables of an evaluation as cel-js reads them. */
export type Values = ReadonlyMap<string, unknown>;

/** Begins an evaluation: the expressions until the next one share its variables, which are JSON, and its limit of steps. */
export function beginEvaluation(scope: Readonly<Record<string, unknown>>, steps = maximumSteps): Values {
  stepsLeft = steps;
  patterns.clear();
  return toCel(scope) as Values;
}

/** `5400s`, as in the JSON of protobuf. */
const formatDuration = (duration: Duration) => `${duration.valueOf() / 1000}s`;

function toJsonNumber(value: number | bigint): number {
  const number = Number(value);
  if (typeof value === "bigint" && !Number.isSafeInteger(number))
    throw new EvaluationError(`${value} is too large for a JSON number; use string(…)`);
  if (!Number.isFinite(number)) throw new EvaluationError(`a JSON number cannot be ${value}`);
  // JSON has no negative zero.
  return number + 0;
}

/** Copies a value to JSON. Throws `EvaluationError` for values that JSON cannot represent exactly. */
function toJson(value: unknown): unknown {
  if (typeof value === "bigint" || typeof value === "number") return toJsonNumber(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((element) => toJson(element));
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([key, member]) => [key, toJson(member)]));
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof Optional) {
    if (value.hasValue()) return toJson(value.value());
    throw new EvaluationError("an optional value is absent; use orValue(…)");
  }
  // A type.
  if ("name" in value) return String(value.name);
  throw new EvaluationError("it has no value in JSON");
}

const arithmetic: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "%": (a, b) => a % b,
};

const environment = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
  limits: { maxAstNodes: 5000, maxDepth: 100, maxCallArguments: 16 },
});
for (const [operator, calculate] of Object.entries(arithmetic)) {
  const mix = (a: number | bigint, b: number | bigint) => calculate(Number(a), Number(b));
  environment.registerOperator(`int ${operator} double: double`, mix);
  environment.registerOperator(`double ${operator} int: double`, mix);
}
environment.registerOperator("double % double: double", (a: number, b: number) => a % b);
const matches = (text: string, pattern: string) => {
  const compiled = compileOnce(pattern);
  if (typeof compiled === "string") throw new EvaluationError(compiled);
  return findPattern(compiled, text);
};
const replace = (text: string, part: string, by: string, limit = -1n) => {
  const parts = text.split(part);
  const rest = limit < 0 ? [] : parts.splice(Number(limit) + 1);
  return [parts.join(by), ...rest].join(part);
};
const functions: Readonly<Record<string, (...values: never[]) => unknown>> = {
  "matches_(string, string): bool": matches,
  "string.matches_(string): bool": matches,
  "string.replace(string, string): string": replace,
  "string.replace(string, string, int): string": replace,
  "string(google.protobuf.Duration): string": formatDuration,
  "string(google.protobuf.Timestamp): string": (time: Date) => time.toISOString(),
  "int(google.protobuf.Timestamp): int": (time: Date) => BigInt(Math.floor(time.getTime() / 1000)),
  "timestamp(double): google.protobuf.Timestamp": (seconds: number) => new Date(seconds * 1000),
};
for (const [signature, apply] of Object.entries(functions))
  environment.registerFunction(signature, apply, { async: false });

/** What cel-js's checker and evaluator offer to the functions of a node; `check` is the checker's, `run` the evaluator's. */
interface Visitor {
  dynType: unknown;
  debugType(value: unknown): { type: string };
  check(node: Node, context: unknown): unknown;
  run(node: Node, context: unknown): unknown;
}

type Visit = (visitor: Visitor, node: Node, context: unknown) => unknown;

/** A part of cel-js's syntax tree, with what its type declarations leave out. */
interface Node {
  op: string;
  /** Nodes, names, and arrays of these. */
  args: unknown;
  pos: number;
  /** An `alternate` takes the node's place, as that of a loop does. A macro evaluates its parts itself. */
  meta: { check: Visit; evaluate: Visit; alternate?: Node; macro?: { var?: string } };
  setMeta<Key extends keyof Node["meta"]>(key: Key, value: Node["meta"][Key]): Node;
  /** Applies an operator or a function, once it is checked. */
  handle(...args: unknown[]): unknown;
}

/** The names that a part of an expression can use, and the number of loops around it. */
interface Scope {
  variables: Variables;
  locals: ReadonlySet<string>;
  loops: number;
}

const listNames = (shape: object) => Object.keys(shape).sort().join(", ");

const fail = (reason: string, { pos }: Node) =>
  new EvaluationError({ message: reason, range: { start: pos, end: pos } });

function nameType(value: unknown, visitor: Visitor): string {
  const { type } = visitor.debugType(value);
  if (type === "null") return type;
  return `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`;
}

function childrenOf(args: unknown): Node[] {
  if (Array.isArray(args)) return args.flatMap(childrenOf);
  return typeof args === "object" && args !== null && "op" in args ? [args as Node] : [];
}

function checkChildren(checker: Visitor, node: Node, context: unknown): unknown {
  for (const child of childrenOf(node.args)) checker.check(child, context);
  return checker.dynType;
}

/** The value at an own key of a map or an index of a list; `undefined` if it does not exist. */
function findMember(container: unknown, key: unknown, node: Node, visitor: Visitor): unknown {
  if (container instanceof Map) return container.get(String(key));
  if (!Array.isArray(container)) throw fail(`${nameType(container, visitor)} has no keys`, node);
  if (typeof key === "bigint" || typeof key === "number") return container[Number(key)];
  throw fail(`a list index must be a number, but it is ${nameType(key, visitor)}`, node);
}

/** `a.b` and `a[b]`; `a.?b` and `a[?b]`, whose values may be absent. */
const readMember: Visit = (evaluator, node, context) => {
  const [from, name] = node.args as [Node, Node | string];
  const container = evaluator.run(from, context);
  const key = typeof name === "string" ? name : evaluator.run(name, context);
  if (container instanceof Optional) {
    const content = container.orValue(undefined);
    return Optional.of(content === undefined ? content : findMember(content, key, node, evaluator));
  }
  const member = findMember(container, key, node, evaluator);
  if (node.op.includes("?")) return Optional.of(member);
  if (member !== undefined) return member;
  throw fail(`${typeof key === "string" ? key : `element ${key}`} does not exist`, node);
};

/** `{ … }`, with any strings as keys. */
const makeMap: Visit = (evaluator, node, context) => {
  const map = new Map<string, unknown>();
  for (const [keyNode, valueNode] of node.args as [Node, Node][]) {
    const key = evaluator.run(keyNode, context);
    if (typeof key === "object")
      throw fail(`a key must be a string, but it is ${nameType(key, evaluator)}`, keyNode);
    if (map.has(String(key))) throw fail(`the key ${key} is duplicated`, keyNode);
    map.set(String(key), evaluator.run(valueNode, context));
  }
  return map;
};

/** A method of strings, or `join`. Its ints may also be whole JSON numbers. */
const callStringMethod: Visit = (evaluator, node, context) => {
  const [, receiver, args] = node.args as [string, Node, Node[]];
  const values = [receiver, ...args].map((argument) => {
    const value = evaluator.run(argument, context);
    return Number.isInteger(value) && argument !== receiver ? BigInt(value as number) : value;
  });
  return node.handle(values, evaluator, node);
};

const isAccess = ({ op }: Node) => /^[.[]/.test(op);

function makeOptional(node: Node): void {
  if (node.op === ".") node.op = ".?";
  if (node.op === "[]") node.op = "[?]";
}

/** The statically known shape of a member. Throws for a key that the shape of its container excludes. */
function shapeOfMember(container: Shape, node: Node): Shape {
  const [, key] = node.args as [Node, Node | string];
  const name = typeof key === "object" && key.op === "value" ? key.args : key;
  if (container === true || typeof name !== "string") return true;
  if (Object.hasOwn(container, name)) return container[name] ?? true;
  throw fail(`unknown key ${name}: the known keys are ${listNames(container)}`, node);
}

/** Why an expression does not compile or has no value, and where. Continues a message after a colon. */
function explain(error: unknown): string {
  if (!(error instanceof EvaluationError || error instanceof CheckError || error instanceof ParseError))
    return "it is nested too deeply or too large";
  const { summary, range } = error;
  const words = summary
    .replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())
    .replaceAll(/dyn<([^<>]*(?:<.*?>)?)>/g, "$1")
    .replaceAll("_(", "(");
  return printable(range === undefined ? words : `${words} (character ${range.start + 1})`);
}

/** Makes a node count its steps when it is evaluated, and hides its type from the nodes around it. */
function watch(node: Node): void {
  const { alternate = node } = node.meta;
  const { check } = alternate.meta;
  alternate.setMeta("check", (checker, self, context) => {
    check(checker, self, context);
    // Only now, as checking replaces the names of types by values and decides how some nodes are evaluated.
    const checked = self.meta.alternate ?? self;
    const { evaluate } = checked.meta;
    checked.setMeta("evaluate", (evaluator, own, inner) => {
      spend(1);
      try {
        return evaluate(evaluator, own, inner);
      } catch (error) {
        spend(stepsPerError);
        throw error;
      }
    });
    return checker.dynType;
  });
}

function prepareCall(node: Node, scope: Scope): void {
  const parts = node.args as [string, ...unknown[]];
  const [name] = parts;
  const [first, ...others] = parts.at(-1) as Node[];
  const pattern = others.at(-1) ?? first;
  if (name === "matches" && pattern?.op === "value" && typeof pattern.args === "string") {
    const compiled = compilePattern(pattern.args);
    if (typeof compiled === "string") throw fail(compiled, pattern);
  }
  if (node.op === "rcall" && /^(?:contains|(?:lastI|i)ndexOf|substring|split|replace|join)$/.test(name))
    node.setMeta("evaluate", callStringMethod);
  // In place of that of cel-js.
  if (name === "matches") parts[0] = "matches_";

  const isLoop = node.meta.alternate?.op === "comprehension";
  // Otherwise, a loop that absorbs errors goes on after the limit, however long its list is.
  const loop = (isLoop ? node.meta.alternate?.args : {}) as { condition?: (value: unknown) => boolean };
  const { condition } = loop;
  if (condition !== undefined) loop.condition = (value) => stepsLeft >= 0 && condition(value);
  const loops = scope.loops + (isLoop ? 1 : 0);
  if (loops > maximumLoops) throw fail(`loops nest more than ${maximumLoops} levels deep`, node);
  const hasLocal = first !== undefined && (isLoop || node.meta.macro?.var !== undefined);
  const locals = hasLocal ? new Set([...scope.locals, first.args as string]) : scope.locals;
  // A loop takes its elements from before the dot.
  if (node.op === "rcall") prepare(parts[1] as Node, scope);
  for (const body of hasLocal ? others : (parts.at(-1) as Node[])) prepare(body, { ...scope, locals, loops });
}

/** Returns the statically known shape of a node's value. */
function prepare(node: Node, scope: Scope): Shape {
  const { op, args } = node;
  const isCall = op === "call" || op === "rcall";
  if (isCall) prepareCall(node, scope);
  const [container = true] = isCall ? [] : childrenOf(args).map((child) => prepare(child, scope));
  let shape: Shape = true;
  if (op === "id" && !scope.locals.has(args as string)) {
    const { variables } = scope;
    const name = args as string;
    const known = Object.hasOwn(variables, name) ? variables[name] : environment.hasVariable(name);
    if (!known) throw fail(`unknown variable ${name}: the known variables are ${listNames(variables)}`, node);
    shape = known;
  } else if (isAccess(node)) {
    shape = shapeOfMember(container, node);
    node.setMeta("check", checkChildren).setMeta("evaluate", readMember);
  } else if (op === "map") node.setMeta("check", checkChildren).setMeta("evaluate", makeMap);
  watch(node);
  return shape;
}

function prepareExpression(expression: string, variables: Variables, mayBeAbsent: boolean) {
  if (expression === "") throw new EvaluationError("it is empty");
  if (expression.length > longestExpression)
    throw new EvaluationError(`it is longer than ${longestExpression} characters`);
  const parsed = environment.parse(expression);
  const root = parsed.ast as unknown as Node;
  if (mayBeAbsent && !isAccess(root) && root.op !== "rcall")
    throw new EvaluationError("? can follow only a key or an index, such as a.b?");
  if (mayBeAbsent) makeOptional(root);
  prepare(root, { variables, locals: new Set(), loops: 0 });
  const { error } = parsed.check();
  if (error !== undefined) throw error;
  return parsed;
}

/** Whether a text is valid CEL, whatever it refers to. */
export function isExpression(text: string): boolean {
  if (text.length > longestExpression) return false;
  try {
    environment.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Evaluates to new JSON or, as text, to a string for interpolation. Throws an `Error` for people. */
export type Expression = (values: Values, asText: boolean) => unknown;

/** For interpolation: empty for null, JSON for objects and arrays. */
function toText(value: unknown): string {
  // Ints keep all digits.
  const json = typeof value === "bigint" ? value : toJson(value);
  return typeof json === "object" && json !== null ? JSON.stringify(json) : String(json ?? "");
}

/**
 * Compiles an expression of CEL with optional values (`a.?b`), mixed number types, patterns without backtracking, and a limit on
 * steps. `mayBeAbsent`: the last member may not exist; then the value is `absent`, or empty as text. Returns a reason for what
 * does not compile.
 */
export function compileExpression(
  expression: string,
  variables: Variables,
  mayBeAbsent = false,
): Expression | string {
  let evaluate: (values: Values) => unknown;
  try {
    evaluate = prepareExpression(expression, variables, mayBeAbsent);
  } catch (error) {
    return explain(error);
  }
  return (values, asText) => {
    try {
      const value = evaluate(values);
      spend(0);
      if (mayBeAbsent && value instanceof Optional && !value.hasValue()) return asText ? "" : absent;
      return asText ? toText(value) : toJson(value);
    } catch (error) {
      // Some part may have absorbed the error of the limit.
      const reason = explain(stepsLeft < 0 ? exceedsLimit() : error);
      throw new Error(`${quote(expression, 200)}: ${reason}`);
    }
  };
}
