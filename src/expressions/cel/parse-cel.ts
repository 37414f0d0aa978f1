// The only module that uses the CEL package, and only its parser: its evaluator has no limit on steps, passes patterns to
// RegExp, drops map keys called `constructor`, and does not mix JSON numbers with ints.
import { type ASTNode, Environment, ParseError } from "@marcbachmann/cel-js";
import { CelError } from "./cel-error.ts";

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

/** The height of a syntax tree. */
export function heightOf(node: unknown): number {
  if (typeof node !== "object" || node === null) return 0;
  const known = heights.get(node);
  if (known !== undefined) return known;
  const inner = Array.isArray(node) ? node : [(node as Partial<CelNode>).args];
  const height = Math.max(0, ...inner.map(heightOf)) + (Array.isArray(node) ? 0 : 1);
  heights.set(node, height);
  return height;
}

/** Makes the parser's message, which starts with a capital letter, the end of a sentence. */
const toClause = (message: string) => message.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());

/** Parses an expression to a syntax tree. Throws `CelError`. */
export function parseCel(expression: string): CelNode {
  if (expression === "") throw new CelError("it is empty");
  if (expression.length > longestExpression)
    throw new CelError(`it is longer than ${longestExpression} characters`);
  try {
    return environment.parse(expression).ast;
  } catch (error) {
    if (error instanceof ParseError) throw new CelError(toClause(error.summary), error.range?.start);
    if (error instanceof RangeError) throw new CelError("it is nested too deeply");
    throw new CelError("it is not valid CEL");
  }
}
