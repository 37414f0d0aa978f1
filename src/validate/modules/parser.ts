// acorn, with bounds for the code of packs.
import { Parser, type Program } from "acorn";

/** How deeply code may be nested. At the end of the stack, V8 may end the process instead of throwing an error. */
const deepest = 1800;

export function checkDepth(depth: number): void {
  if (depth > deepest) throw new RangeError("The code is nested too deeply.");
}

/** The names of a scope. acorn looks for each new one among the others, which would take minutes for a hundred thousand. */
class ScopeNames extends Array<string> {
  #all: Set<string> | undefined;

  override push(name: string): number {
    if (this.length === 64) this.#all = new Set(this);
    this.#all?.add(name);
    return super.push(name);
  }

  override indexOf(name: string): number {
    return this.#all === undefined ? super.indexOf(name) : this.#all.has(name) ? 0 : -1;
  }
}

/** The methods of acorn through which code of any depth passes, and how much of the stack each may take. */
const nesting = { Statement: 3, MaybeAssign: 3, MaybeUnary: 3, New: 3, BindingAtom: 3, ExprOp: 1 };

/** acorn's types do not have the methods of its parser. */
// biome-ignore lint/suspicious/noExplicitAny: see above.
function addBounds(Base: any): any {
  class BoundedParser extends Base {
    depth = 0;

    enterScope(flags: number): void {
      super.enterScope(flags);
      const scope = this.scopeStack.at(-1);
      for (const key of ["var", "lexical", "functions"]) scope[key] = new ScopeNames();
    }
  }
  for (const [name, weight] of Object.entries(nesting)) {
    const parse = Base.prototype[`parse${name}`];
    Object.assign(BoundedParser.prototype, {
      // Named one by one, because an array of arguments takes a third of the time again.
      [`parse${name}`](this: BoundedParser, a: unknown, b: unknown, c: unknown, d: unknown, e: unknown) {
        this.depth += weight;
        checkDepth(this.depth);
        const node = parse.call(this, a, b, c, d, e);
        this.depth -= weight;
        return node;
      },
    });
  }
  return BoundedParser;
}

const parser = Parser.extend(addBounds);

/** Throws `SyntaxError` with the position of acorn, and `RangeError`. */
export const parseProgram = (text: string, kind: "esm" | "commonjs"): Program =>
  parser.parse(text, { ecmaVersion: "latest", sourceType: kind === "esm" ? "module" : "commonjs" });
