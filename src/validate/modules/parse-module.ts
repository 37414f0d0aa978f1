// Finds the exports and imports of modules without running them. Loaded on demand, because the parser is large.
import { type AnyNode, Parser, type Program } from "acorn";
import { positionAt } from "../../data/line-index.ts";

/** How deeply code may be nested. At the end of the stack, V8 may end the process instead of throwing an error. */
const deepest = 1800;

function checkDepth(depth: number): void {
  if (depth > deepest) throw new RangeError("The code is nested too deeply.");
}

/** The names of a scope. acorn looks for each new one among the others, which would take minutes for a hundred thousand. */
class ScopeNames extends Array<string> {
  #all = new Set<string>();

  override push(name: string): number {
    this.#all.add(name);
    return super.push(name);
  }

  override indexOf(name: string): number {
    return this.#all.has(name) ? 0 : -1;
  }
}

/** The methods of acorn through which code of any depth passes, and how much of the stack each may take. */
const nesting = { Statement: 3, MaybeAssign: 3, MaybeUnary: 3, New: 3, BindingAtom: 3, ExprOp: 1 };

/** acorn's types do not have the methods of its parser. */
// biome-ignore lint/suspicious/noExplicitAny: see above.
function extendParser(Base: any): any {
  class ModuleParser extends Base {
    depth = 0;
    exports: object = {};

    /** acorn keeps exported names as the keys of an object, to find repeated ones. */
    checkExport(exports: object, name: unknown, position: number): void {
      super.checkExport(exports, name, position);
      this.exports = exports;
    }

    enterScope(flags: number): void {
      super.enterScope(flags);
      const scope = this.scopeStack.at(-1);
      for (const key of ["var", "lexical", "functions"]) scope[key] = new ScopeNames();
    }
  }
  for (const [name, weight] of Object.entries(nesting)) {
    const parse = Base.prototype[`parse${name}`];
    Object.assign(ModuleParser.prototype, {
      // Named one by one, because an array of arguments takes a third of the time again.
      [`parse${name}`](this: ModuleParser, a: unknown, b: unknown, c: unknown, d: unknown, e: unknown) {
        this.depth += weight;
        checkDepth(this.depth);
        const node = parse.call(this, a, b, c, d, e);
        this.depth -= weight;
        return node;
      },
    });
  }
  return ModuleParser;
}

const ModuleParser = extendParser(Parser);

/** Throws `SyntaxError` with the position of acorn, and `RangeError`. */
function parseProgram(text: string, kind: ModuleKind): { program: Program; exports: object } {
  const sourceType = kind === "esm" ? "module" : kind;
  const parser = new ModuleParser({ ecmaVersion: "latest", sourceType }, text);
  return { program: parser.parse(), exports: parser.exports };
}

export type ModuleKind = "esm" | "commonjs";

/** An import with a literal specifier, and the kind of resolution. */
export interface WrittenImport {
  specifier: string;
  kind: ModuleKind;
  index: number;
  /** It is in a `try` block, or its promise has a `.catch`. */
  isGuarded: boolean;
}

/** The reason why Node cannot load a module, and its place: the format that Node expects, or the message of its parser. */
export type ModuleFault = { line?: number; column?: number } & ({ readAs: ModuleKind } | { reason: string });

/** `why` continues after the file name: "cannot be parsed". */
export type Unparsed =
  /** Node would not load it. */
  | { kind: "broken"; why: string; fault?: ModuleFault }
  /** It may export anything. */
  | { kind: "opaque"; why: string };

/** The statically known exports and imports of a module. */
export interface ParsedModule {
  kind: ModuleKind;
  names: ReadonlySet<string>;
  /** Modules whose exports are all re-exported. */
  stars: readonly string[];
  imports: readonly WrittenImport[];
  /** It may export names that do not occur in its text. */
  isOpen: boolean;
  fault?: ModuleFault | undefined;
}

// Places are the type of a node and the key of its child.

/** Where code does not run whenever the module is loaded. */
const perhaps =
  /^(?:TryStatement\.|(?:If|Conditional)\w+\.(?:consequent|alternate)|LogicalExpression\.right|SwitchStatement\.cases|(?:For|While|DoWhile)\w*\.body|PropertyDefinition\.value|(?:Arrow)?Function\w+\.)/;
/** Where a name is declared or set, also as a property, perhaps of `globalThis`. */
const declared =
  /\.(?:id|params?|local|property)$|^Assignment\w+\.left$|^(?:Array|Object)Pattern\.|^RestElement\./;
const noVariable = /\.(?:key|imported|exported|label)$/;

const commonJsNames: ReadonlySet<string> = new Set([
  "require",
  "module",
  "exports",
  "__dirname",
  "__filename",
]);

/** Finds the imports of a module, and where its loading uses variables of CommonJS that it does not declare. */
function surveyCode(program: Program): { imports: WrittenImport[]; commonJsUse: number | undefined } {
  const imports: WrittenImport[] = [];
  const uses: { name: string; index: number }[] = [];
  const ownNames = new Set<string>();

  const start = { place: "", depth: 1, isGuarded: false, isCertain: true };
  function visit(node: AnyNode, { place, depth, isGuarded, isCertain }: typeof start): void {
    checkDepth(depth);
    const isRequire =
      node.type === "CallExpression" && node.callee.type === "Identifier" && node.callee.name === "require";
    const source = isRequire ? node.arguments[0] : "source" in node ? node.source : undefined;
    const isTemplate = source?.type === "TemplateLiteral" && source.expressions.length === 0;
    const literal = source?.type === "Literal" ? source.value : undefined;
    const specifier = isTemplate ? source.quasis[0]?.value.cooked : literal;
    if (typeof specifier === "string" && specifier !== "")
      imports.push({ specifier, kind: isRequire ? "commonjs" : "esm", index: node.start, isGuarded });
    if (node.type === "Identifier" && commonJsNames.has(node.name) && !noVariable.test(place)) {
      if (declared.test(place)) ownNames.add(node.name);
      // `typeof`: the module knows that it may not exist.
      else if (place === "UnaryExpression.argument") for (const name of commonJsNames) ownNames.add(name);
      else if (isCertain) uses.push({ name: node.name, index: node.start });
    }
    // A property of a pattern is part of it.
    const type = place === "ObjectPattern.properties" ? "ObjectPattern" : node.type;
    for (const [key, value] of Object.entries(node) as [string, unknown][]) {
      if (typeof value !== "object" || value === null) continue;
      const inside = `${type}.${key}`;
      const { property } = value as { property?: AnyNode };
      const isCaught =
        inside === "CallExpression.callee" && property?.type === "Identifier" && property.name === "catch";
      const around = {
        place: inside,
        depth: depth + 1,
        isGuarded: isGuarded || inside === "TryStatement.block" || isCaught,
        isCertain: isCertain && !perhaps.test(inside),
      };
      for (const child of (Array.isArray(value) ? value : [value]) as (AnyNode | null)[])
        if (typeof child?.type === "string") visit(child, around);
    }
  }
  visit(program, start);
  return { imports, commonJsUse: uses.find(({ name }) => !ownNames.has(name))?.index };
}

function readEsm(text: string): ParsedModule {
  const { program, exports } = parseProgram(text, "esm");
  const { imports: all, commonJsUse } = surveyCode(program);
  const imports = all.filter(({ kind }) => kind === "esm");
  const stars = program.body.flatMap((one) =>
    one.type === "ExportAllDeclaration" && one.exported === null ? String(one.source.value) : [],
  );
  const names = new Set(Object.keys(exports));
  const module = { kind: "esm" as const, names, stars, imports, isOpen: false };
  if (commonJsUse === undefined) return module;
  return { ...module, fault: { readAs: "esm", ...positionAt(text, commonJsUse) } };
}

/** CommonJS that may export more names than those that it assigns one by one: of another value, or in computed places. */
const openExports =
  /\bmodule\s*\[|\bexports\s*\[|(?<!defineProperty\(\s*)\bexports\s*[,)]|=\s*exports\b(?!\s*\.)|\bexports\s*=(?!=)(?!\s*(?:\{|(?:async\s+)?function\b|class\b|\([^()]*\)\s*=>))|\.\.\./;

/** Finds the same named exports as Node. */
async function readCommonJs(text: string): Promise<ParsedModule> {
  const { imports } = surveyCode(parseProgram(text, "commonjs").program);
  const { parse } = await import("cjs-module-lexer");
  const { exports, reexports } = parse(text);
  const names = new Set([...exports, "default"]);
  names.delete("__esModule");
  return { kind: "commonjs", names, stars: reexports, imports, isOpen: openExports.test(text) };
}

/** The messages by which Node itself detects the format of a module, and those of the parser. */
const saysEsm =
  /^(?:Cannot use import statement outside a module|Unexpected token 'export'|'import' and 'export' may|Cannot use 'import\.meta' outside a module)/;

const hasEsm = "is read as CommonJS, but has `import` or `export` statements";

/**
 * Parses a module in a format, or like Node in the one that its syntax shows. Only Node decides that it cannot be parsed,
 * as it may know newer syntax; if it must not be asked, because that takes a process, the parser's own error counts.
 */
export async function parseModule(
  text: string,
  format: ModuleKind | undefined,
  mayAskNode: boolean,
): Promise<ParsedModule | Unparsed> {
  const errors = new Map<ModuleKind, unknown>();
  for (const kind of format === undefined ? (["commonjs", "esm"] as const) : [format]) {
    try {
      return kind === "esm" ? readEsm(text) : await readCommonJs(text);
    } catch (error) {
      errors.set(kind, error);
    }
  }
  const kind = format ?? (/^\s*(?:import|export)\b/m.test(text) ? "esm" : "commonjs");
  const error = errors.get(kind);
  if (!(error instanceof SyntaxError)) return { kind: "opaque", why: "cannot be parsed" };
  const reason = error.message.replace(/ \(\d+:\d+\)$/, "");
  const known = { reason, ...positionAt(text, Number((error as { pos?: number }).pos)) };
  const askNode = async () => (await import("../../confinement/evaluate.ts")).findSyntaxErrorIn(text, kind);
  const found = mayAskNode ? await askNode() : known;
  if (found === undefined) return { kind: "opaque", why: "cannot be parsed" };
  const { reason: said, ...place } = found;
  return kind === "commonjs" && saysEsm.test(said)
    ? { kind: "broken", why: hasEsm, fault: { readAs: kind, ...place } }
    : { kind: "broken", why: `cannot be parsed: ${said}`, fault: found };
}
