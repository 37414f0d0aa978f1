// Finds the exports and imports of modules without running them. The parsers are loaded on demand.
import type {
  AnyNode,
  CallExpression,
  Declaration,
  Identifier,
  Literal,
  MemberExpression,
  ModuleDeclaration,
  Pattern,
  Program,
} from "acorn";

type CommonJsName = "require" | "module" | "exports" | "__dirname" | "__filename";

export type ModuleKind = "esm" | "commonjs";

/** An import with a literal specifier, and the kind of resolution. */
export interface WrittenImport {
  specifier: string;
  kind: ModuleKind;
  /** Where it starts in the source code. */
  index: number;
  /** It is in a `try` block, or its promise has a `.catch`. */
  isGuarded: boolean;
}

/** The reason why Node cannot load a module, and its place. */
export type ModuleFault = { line?: number; column?: number } & (
  | {
      fault: "format";
      readAs: ModuleKind;
      /** The module has both ES module and CommonJS syntax. */
      isMixed: boolean;
    }
  /** A variable that ES modules do not have. The module can be loaded if only a function uses it. */
  | { fault: "variable"; name: CommonJsName; isInFunction: boolean }
  /** The message of Node's parser. */
  | { fault: "syntax"; reason: string }
);

/** Whether Node cannot load a module, so that its exports do not matter. */
export const isBroken = (fault: ModuleFault | undefined): boolean =>
  fault !== undefined && !(fault.fault === "variable" && fault.isInFunction);

/** The statically known exports and imports of a module. */
export type ParsedModule =
  | {
      kind: "esm";
      /** Names exported by the module itself. */
      names: ReadonlySet<string>;
      /** The specifiers of the other modules that names are exported from. */
      reexports: ReadonlyMap<string, string>;
      /** Modules whose exports are all re-exported. */
      stars: readonly string[];
      imports: readonly WrittenImport[];
      fault?: ModuleFault | undefined;
    }
  | {
      kind: "commonjs";
      names: ReadonlySet<string>;
      stars: readonly string[];
      imports: readonly WrittenImport[];
      /** It may export names that do not occur in its text. */
      isOpen: boolean;
      fault?: undefined;
    }
  /** Node would not load it. `why` continues after the file name and the position: "cannot be parsed". */
  | { kind: "broken"; why: string; hint?: string; fault?: ModuleFault }
  /** It may export anything. */
  | { kind: "opaque"; why: string };

/** The line and column of an index, from 1. */
export function placeOf(text: string, index: number): { line: number; column: number } {
  const lines = text.slice(0, index).split(/\r\n|\r|\n/);
  return { line: lines.length, column: (lines.at(-1) ?? "").length + 1 };
}

/** What is known of the code around a node. */
interface Surroundings {
  isGuarded: boolean;
  /** It does not always run. */
  isConditional: boolean;
  isInFunction: boolean;
}

/** A use of a variable that only CommonJS modules have. */
interface CommonJsUse {
  name: CommonJsName;
  index: number;
  isInFunction: boolean;
}

/** What the code of a module has besides its declarations of imports and exports. */
class CodeSurvey {
  readonly imports: WrittenImport[] = [];
  readonly #uses: CommonJsUse[] = [];
  /** Variables that the module declares, or checks for: their uses may be correct. */
  readonly #ignored = new Set<string>();
  /** Functions and classes. */
  readonly #declared = new Set<string>();
  /** Values of `module.exports`. */
  readonly #exported: AnyNode[] = [];
  #isOpen = false;
  readonly #parents: AnyNode[] = [];

  constructor(program: Program) {
    this.#visit(program, { isGuarded: false, isConditional: false, isInFunction: false });
  }

  /** Whether a CommonJS module may export names that do not occur in its text, as in `Object.assign(exports, other)`. */
  get isOpen(): boolean {
    return this.#isOpen || this.#exported.some((value) => !this.#isPlain(value));
  }

  /** The first use that fails when the module is loaded, otherwise the first that fails when a function is called. */
  findCommonJsUse(): CommonJsUse | undefined {
    const uses = this.#uses.filter(({ name }) => !this.#ignored.has(name));
    return uses.find(({ isInFunction }) => !isInFunction) ?? uses[0];
  }

  /** Whether all names of a value of `module.exports` are in the text. */
  #isPlain(value: AnyNode): boolean {
    switch (value.type) {
      case "ObjectExpression":
        return value.properties.every(({ type }) => type !== "SpreadElement");
      case "Identifier":
        return this.#declared.has(value.name);
      default:
        return /^(?:FunctionExpression|ClassExpression)$/.test(value.type);
    }
  }

  #visit(node: AnyNode, around: Surroundings): void {
    this.#judge(node, around);
    this.#parents.push(node);
    checkDepth(this.#parents.length);
    for (const [key, value] of Object.entries(node) as [string, unknown][]) {
      if (typeof value !== "object" || value === null || isNameOnly(node, key)) continue;
      const inside = surroundingsIn(node, key, around);
      for (const child of (Array.isArray(value) ? value : [value]) as (AnyNode | null)[])
        if (typeof child?.type === "string") this.#visit(child, inside);
    }
    this.#parents.pop();
  }

  #judge(node: AnyNode, around: Surroundings): void {
    switch (node.type) {
      case "ImportDeclaration":
        for (const { local } of node.specifiers) this.#ignore(local);
        break;
      case "ImportExpression":
        this.#addImport(node, node.source, "esm", around);
        break;
      case "CallExpression":
        if (node.callee.type === "Identifier" && node.callee.name === "require")
          this.#addImport(node, node.arguments[0], "commonjs", around);
        break;
      case "VariableDeclarator":
        this.#ignore(node.id);
        break;
      case "CatchClause":
        if (node.param) this.#ignore(node.param);
        break;
      case "AssignmentExpression":
        this.#ignore(node.left);
        // A global that the module sets.
        if (node.left.type === "MemberExpression" && propertyOf(node.left) === "require")
          this.#ignored.add("require");
        break;
      case "FunctionDeclaration":
      case "FunctionExpression":
      case "ArrowFunctionExpression":
      case "ClassDeclaration":
      case "ClassExpression":
        if (node.id) {
          this.#ignore(node.id);
          this.#declared.add(node.id.name);
        }
        if ("params" in node) for (const param of node.params) this.#ignore(param);
        break;
      case "MemberExpression":
        if (
          node.object.type === "Identifier" &&
          node.object.name === "module" &&
          propertyOf(node) === "exports"
        )
          this.#judgeExports(node, around);
        break;
      case "Identifier":
        if (node.name === "exports") this.#judgeExports(node, around);
        else if (commonJsNames.has(node.name)) this.#judgeName(node, around);
    }
  }

  #addImport(
    node: AnyNode,
    source: AnyNode | undefined,
    kind: ModuleKind,
    { isGuarded }: Surroundings,
  ): void {
    const isTemplate = source?.type === "TemplateLiteral" && source.expressions.length === 0;
    const specifier = isTemplate
      ? source.quasis[0]?.value.cooked
      : source?.type === "Literal" && source.value;
    if (typeof specifier === "string" && specifier !== "")
      this.imports.push({ specifier, kind, index: node.start, isGuarded });
  }

  /** Adds the names of a pattern to those that the module declares. */
  #ignore(pattern: Pattern): void {
    for (const name of namesOf(pattern)) this.#ignored.add(name === "module" ? "exports" : name);
  }

  #use(name: CommonJsName, { start: index }: AnyNode, { isConditional, isInFunction }: Surroundings): void {
    if (!isConditional) this.#uses.push({ name, index, isInFunction });
  }

  /** Judges `require`, `module`, `__dirname` or `__filename` by what is done with it. */
  #judgeName(node: Identifier, around: Surroundings): void {
    const name = node.name as CommonJsName;
    const parent = this.#parents.at(-1);
    const property = parent?.type === "MemberExpression" ? propertyOf(parent) : undefined;
    const isCall = parent?.type === "CallExpression" && parent.callee === node;
    if (parent?.type === "UnaryExpression" && parent.operator === "typeof") {
      const all = name.startsWith("__") ? [name] : ["exports", ...commonJsNames];
      for (const one of all) this.#ignored.add(one);
    } else if (name.startsWith("__")) this.#use(name, node, around);
    else if (!isCall && property === undefined) this.#ignored.add(name === "module" ? "exports" : name);
    else if (name === "require") {
      const [first] = isCall ? parent.arguments : [];
      // Modules of Bun exist only where `require` does.
      const isOfBun = first?.type === "Literal" && /^bun(?::|$)/.test(String(first.value));
      if (!isOfBun && property !== "extensions" && property !== "cache") this.#use(name, node, around);
    }
  }

  /** Judges `exports` or `module.exports` by what is done with it. */
  #judgeExports(node: Identifier | MemberExpression, around: Surroundings): void {
    const parent = this.#parents.at(-1);
    const isWhole = node.type === "MemberExpression";
    if (parent?.type === "MemberExpression" && parent.object === node) this.#isOpen ||= parent.computed;
    else if (parent?.type === "CallExpression" && isDefinition(parent, node))
      this.#isOpen ||= parent.arguments[1]?.type !== "Literal";
    else if (isWhole && parent?.type === "AssignmentExpression" && parent.left === node)
      this.#exported.push(parent.right);
    else {
      this.#isOpen = true;
      if (!isWhole) this.#ignored.add("exports");
    }
    if (!around.isInFunction) this.#use("exports", node, around);
  }
}

const commonJsNames: ReadonlySet<string> = new Set(["require", "module", "__dirname", "__filename"]);

/** The name of a property that is not computed. */
const propertyOf = ({ computed, property }: MemberExpression): string | undefined =>
  !computed && property.type === "Identifier" ? property.name : undefined;

/** Whether a call is `Object.defineProperty` of an object. */
const isDefinition = ({ callee, arguments: [target] }: CallExpression, object: AnyNode): boolean =>
  target === object && callee.type === "MemberExpression" && propertyOf(callee) === "defineProperty";

/** Whether a child of a node is a name that refers to no variable. */
function isNameOnly(node: AnyNode, key: string): boolean {
  switch (key) {
    case "property":
    case "key":
      return !("computed" in node && node.computed);
    default:
      return /^(?:label|meta|specifiers|exported)$/.test(key);
  }
}

/** What is known of the code in one part of a node. */
function surroundingsIn(node: AnyNode, key: string, around: Surroundings): Surroundings {
  switch (node.type) {
    case "TryStatement":
      return { ...around, isGuarded: around.isGuarded || key === "block", isConditional: true };
    case "CallExpression": {
      const isCaught =
        key === "callee" && node.callee.type === "MemberExpression" && propertyOf(node.callee) === "catch";
      return isCaught ? { ...around, isGuarded: true } : around;
    }
    case "PropertyDefinition":
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      return key === "key" ? around : { ...around, isInFunction: true };
    case "IfStatement":
    case "ConditionalExpression":
      return key === "test" ? around : { ...around, isConditional: true };
    case "LogicalExpression":
      return key === "left" ? around : { ...around, isConditional: true };
    case "SwitchStatement":
      return key === "cases" ? { ...around, isConditional: true } : around;
    case "AssignmentExpression":
      return /^(?:&&|\|\||\?\?)=$/.test(node.operator) ? { ...around, isConditional: true } : around;
    default:
      return key === "body" && /^(?:For|While|DoWhile)/.test(node.type)
        ? { ...around, isConditional: true }
        : around;
  }
}

/** The exports of an ES module, and whether it has module syntax. */
function readExports({ body }: Program) {
  const names = new Set<string>();
  const reexports = new Map<string, string>();
  const stars: string[] = [];
  const imported = new Map<string, string>();
  const declarations = body.filter((one): one is ModuleDeclaration =>
    /^(?:Im|Ex)port.*Declaration$/.test(one.type),
  );
  for (const one of declarations)
    if (one.type === "ImportDeclaration")
      for (const { local } of one.specifiers) imported.set(local.name, String(one.source.value));
  for (const one of declarations) {
    if (one.type === "ExportDefaultDeclaration") names.add("default");
    else if (one.type === "ExportAllDeclaration") {
      const from = String(one.source.value);
      if (one.exported) reexports.set(nameOf(one.exported), from);
      else stars.push(from);
    } else if (one.type === "ExportNamedDeclaration") {
      for (const name of one.declaration ? namesOf(one.declaration) : []) names.add(name);
      for (const { local, exported } of one.specifiers) {
        const from = one.source ? String(one.source.value) : imported.get(nameOf(local));
        if (from === undefined) names.add(nameOf(exported));
        else reexports.set(nameOf(exported), from);
      }
    }
  }
  const imports = declarations.flatMap((one): WrittenImport[] =>
    "source" in one && one.source
      ? [{ specifier: String(one.source.value), kind: "esm", index: one.start, isGuarded: false }]
      : [],
  );
  return { names, reexports, stars, imports, hasSyntax: declarations.length > 0 };
}

const nameOf = (name: Identifier | Literal): string =>
  name.type === "Identifier" ? name.name : String(name.value);

/** The names that a declaration or a pattern declares. */
function namesOf(node: Declaration | Pattern): string[] {
  switch (node.type) {
    case "VariableDeclaration":
      return node.declarations.flatMap(({ id }) => namesOf(id));
    case "FunctionDeclaration":
    case "ClassDeclaration":
      return [node.id.name];
    case "Identifier":
      return [node.name];
    case "ObjectPattern":
      return node.properties.flatMap((one) => namesOf(one.type === "Property" ? one.value : one.argument));
    case "ArrayPattern":
      return node.elements.flatMap((one) => (one ? namesOf(one) : []));
    case "AssignmentPattern":
      return namesOf(node.left);
    case "RestElement":
      return namesOf(node.argument);
    default:
      return [];
  }
}

/** Code with any of these needs more than a look at its declarations. */
const surveyed = /\bimport\b\s*[(.]|\b(?:require|exports|__dirname|__filename)\b/;

function readEsm(text: string, program: Program, isDetected: boolean): ParsedModule {
  const { imports, hasSyntax, ...exported } = readExports(program);
  if (!surveyed.test(text)) return { kind: "esm", imports, ...exported };
  const survey = new CodeSurvey(program);
  const all = [...imports, ...survey.imports.filter(({ kind }) => kind === "esm")];
  all.sort((one, other) => one.index - other.index);
  const use = survey.findCommonJsUse();
  if (use === undefined) return { kind: "esm", imports: all, ...exported };
  const { name, index, isInFunction } = use;
  const isMixed = isDetected || hasSyntax || /\bimport\s*\.\s*meta\b/.test(text);
  const place = placeOf(text, index);
  const fault: ModuleFault =
    isInFunction || name.startsWith("__")
      ? { fault: "variable", name, isInFunction, ...place }
      : { fault: "format", readAs: "esm", isMixed, ...place };
  return { kind: "esm", imports: all, fault, ...exported };
}

/** Finds the same named exports as Node. */
async function readCommonJs(text: string, program: Program): Promise<ParsedModule> {
  const { parse } = await import("cjs-module-lexer");
  const { exports, reexports } = parse(text);
  const { imports, isOpen } = new CodeSurvey(program);
  return { kind: "commonjs", names: new Set(exports), stars: reexports, imports, isOpen };
}

/** Asks Node for the syntax error in a text; `undefined` if Node finds none. */
type SyntaxCheck = (
  text: string,
  kind: ModuleKind,
) => Promise<{ reason: string; line?: number; column?: number } | undefined>;

/** The messages by which Node itself detects the format of a module, and those of the parser. */
const saysEsm =
  /^(?:Cannot use import statement outside a module|Unexpected token 'export'|'import' and 'export' may|Cannot use 'import\.meta' outside a module)/;

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

/** How deeply code may be nested. At the end of the stack, V8 may end the process instead of throwing an error. */
const deepest = 1800;

function checkDepth(depth: number): void {
  if (depth > deepest) throw new RangeError("The code is nested too deeply.");
}

/** The methods of acorn through which code of any depth passes, and how much of the stack each may take. */
const nesting = { Statement: 3, MaybeAssign: 3, MaybeUnary: 3, New: 3, BindingAtom: 3, ExprOp: 1 };

/** acorn's parser, whose methods its types do not have, with bounds for the code of packs. */
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

/**
 * Parses a module in a format, or like Node in the one that its syntax shows. Only Node decides that it cannot be parsed,
 * as it may know newer syntax; if it must not be asked, because that takes a process, the parser's own error counts.
 */
export async function parseModule(
  text: string,
  format: ModuleKind | undefined,
  askNode: SyntaxCheck | undefined,
): Promise<ParsedModule> {
  const { Parser } = await import("acorn");
  const parser = Parser.extend(addBounds);
  const errors = new Map<ModuleKind, unknown>();
  for (const kind of format === undefined ? (["commonjs", "esm"] as const) : [format]) {
    try {
      const program = parser.parse(text, {
        ecmaVersion: "latest",
        sourceType: kind === "esm" ? "module" : "commonjs",
      });
      return kind === "esm"
        ? readEsm(text, program, format === undefined)
        : await readCommonJs(text, program);
    } catch (error) {
      errors.set(kind, error);
    }
  }
  const kind = format ?? (/^\s*(?:import|export)\b/m.test(text) ? "esm" : "commonjs");
  const error = errors.get(kind);
  if (!(error instanceof SyntaxError)) return { kind: "opaque", why: "cannot be parsed" };
  const reason = error.message.replace(/ \(\d+:\d+\)$/, "");
  const known = { reason, ...placeOf(text, Number((error as { pos?: number }).pos)) };
  const found = askNode === undefined ? known : await askNode(text, kind);
  if (found === undefined) return { kind: "opaque", why: "cannot be parsed" };
  if (kind === "esm" || !saysEsm.test(found.reason))
    return { kind: "broken", why: "cannot be parsed", fault: { fault: "syntax", ...found } };
  const { reason: _, ...place } = found;
  return {
    kind: "broken",
    why: "is read as CommonJS, but has `import` or `export` statements",
    hint: 'Use the extension .mjs, or set "type" to "module" in package.json.',
    fault: { fault: "format", readAs: "commonjs", isMixed: false, ...place },
  };
}
