// The one place that knows the parser. Only that is used of the package: its evaluator has no limit of steps, hands
// patterns to RegExp, drops keys of maps called `constructor`, and does not mix the numbers of JSON with ints.
import { type ASTNode, Environment, ParseError } from "@marcbachmann/cel-js";
import { CelFault } from "./fault.ts";

export type CelNode = ASTNode;

const longestExpression = 20_000;

const environment = new Environment({
  unlistedVariablesAreDyn: true,
  enableOptionalTypes: true,
  limits: {
    maxAstNodes: 5000,
    maxDepth: 100,
    maxListElements: 1000,
    maxMapEntries: 1000,
    maxCallArguments: 16,
  },
});

const heights = new WeakMap<object, number>();

/** How many parts of an expression are inside each other, at most. */
export function heightOf(node: unknown): number {
  if (typeof node !== "object" || node === null) return 0;
  const known = heights.get(node);
  if (known !== undefined) return known;
  const inner = Array.isArray(node) ? node : [(node as Partial<CelNode>).args];
  const height = Math.max(0, ...inner.map(heightOf)) + (Array.isArray(node) ? 0 : 1);
  heights.set(node, height);
  return height;
}

/** The parser's words begin with a capital, for a sentence of their own. */
const toClause = (words: string) => words.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());

/** The syntax tree of an expression; a fault is a `CelFault`. Evaluates nothing. */
export function parseCel(expression: string): CelNode {
  if (expression === "") throw new CelFault("it is empty");
  if (expression.length > longestExpression)
    throw new CelFault(`it is longer than ${longestExpression} characters`);
  try {
    return environment.parse(expression).ast;
  } catch (error) {
    if (error instanceof ParseError) throw new CelFault(toClause(error.summary), error.range?.start);
    if (error instanceof RangeError) throw new CelFault("it nests too deep");
    throw new CelFault("it is not CEL");
  }
}
