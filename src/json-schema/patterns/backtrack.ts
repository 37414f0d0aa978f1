import { type Context, createContext, Script } from "node:vm";

/** Limit on one match with backtracking: many times what a string of that length takes with any usual pattern. */
const longestMatch = 1000;

// A script is the only way to interrupt JavaScript's engine.
const script = new Script("expression.test(text)");
let context: Context | undefined;

/** Throws if the match takes too long. */
export function backtrack(expression: RegExp, text: string): boolean {
  context ??= createContext(Object.create(null));
  Object.assign(context, { expression, text });
  return script.runInContext(context, { timeout: longestMatch }) as boolean;
}
