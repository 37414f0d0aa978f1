// Finds the exports and imports of modules without running them. The parsers are loaded on demand.
import type { AnyNode, Declaration, Identifier, Literal, MemberExpression, Pattern, Program } from "acorn";

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
interface CommonJsUse extends Surroundings {
  name: CommonJsName;
  index: number;
}

const commonJsNames: ReadonlySet<string> = new Set([
  "require",
  "module",
  "exports",
  "__dirname",
  "__filename",
]);

// Places are the type of a node and the key of its child.

/** Names that refer to no variable, unless they are computed. */
const nameOnly = /^(?:\w+\.(?:property|key)|\w+\.(?:label|meta|exported|imported)|ExportSpecifier\.local)$/;
/** Names that the module declares or sets. */
const declaring =
  /^(?:VariableDeclarator\.id|(?:Arrow)?Function\w+\.(?:id|params)|Class\w+\.id|Assignment\w+\.left|CatchClause\.param|ArrayPattern\.elements|RestElement\.argument|Import\w+\.local)$/;
const conditional =
  /^(?:TryStatement\.\w+|(?:If|Conditional)\w+\.(?:consequent|alternate)|LogicalExpression\.right|SwitchStatement\.cases|(?:For|While|DoWhile)\w*\.body)$/;
const inFunction = /^(?:PropertyDefinition|(?:Arrow)?Function\w+)\.(?!key$)/;

/** What the code of a module has besides its declarations of imports and exports. */
class CodeSurvey {
  readonly imports: WrittenImport[] = [];
  readonly #uses: CommonJsUse[] = [];
  /** Variables that the module declares, checks for or hands on: their uses may be correct. */
  readonly #ignored = new Set<string>();
  /** Functions and classes. */
  readonly #declared = new Set<string>();
  /** Values of `module.exports`. */
  readonly #exported: AnyNode[] = [];
  #isOpen = false;
  readonly #parents: AnyNode[] = [];

  constructor(program: Program) {
    this.#visit(program, "", { isGuarded: false, isConditional: false, isInFunction: false });
  }

  /** Whether a CommonJS module may export names that do not occur in its text, as in `Object.assign(exports, other)`. */
  get isOpen(): boolean {
    const isPlain = (value: AnyNode) =>
      value.type === "ObjectExpression"
        ? value.properties.every(({ type }) => type !== "SpreadElement")
        : value.type === "Identifier"
          ? this.#declared.has(value.name)
          : /^(?:Function|Class)Expression$/.test(value.type);
    return this.#isOpen || !this.#exported.every(isPlain);
  }

  /** The first use that fails when the module is loaded, otherwise the first that fails when a function is called. */
  findCommonJsUse(): CommonJsUse | undefined {
    const uses = this.#uses.filter(({ name, isConditional }) => !isConditional && !this.#ignored.has(name));
    return uses.find(({ isInFunction }) => !isInFunction) ?? uses[0];
  }

  /** `place` is that of the node in its parent. */
  #visit(node: AnyNode, place: string, around: Surroundings): void {
    this.#judge(node, place, around);
    this.#parents.push(node);
    checkDepth(this.#parents.length);
    for (const [key, value] of Object.entries(node) as [string, unknown][]) {
      if (typeof value !== "object" || value === null) continue;
      const inner = `${node.type}.${key}`;
      if (nameOnly.test(inner) && !("computed" in node && node.computed)) continue;
      const isCaught =
        inner === "CallExpression.callee" && "property" in value && propertyOf(value as AnyNode) === "catch";
      const isShortCircuit =
        node.type === "AssignmentExpression" && /^(?:&&|\|\||\?\?)=$/.test(node.operator);
      const inside = {
        isGuarded: around.isGuarded || inner === "TryStatement.block" || isCaught,
        isConditional: around.isConditional || conditional.test(inner) || isShortCircuit,
        isInFunction: around.isInFunction || inFunction.test(inner),
      };
      for (const child of (Array.isArray(value) ? value : [value]) as (AnyNode | null)[])
        if (typeof child?.type === "string") this.#visit(child, inner, inside);
    }
    this.#parents.pop();
  }

  #judge(node: AnyNode, place: string, around: Surroundings): void {
    if (node.type === "ImportExpression") this.#addImport(node, node.source, "esm", around);
    else if (node.type === "CallExpression") {
      if (node.callee.type === "Identifier" && node.callee.name === "require")
        this.#addImport(node, node.arguments[0], "commonjs", around);
    } else if (node.type === "MemberExpression") {
      if (
        node.object.type === "Identifier" &&
        node.object.name === "module" &&
        propertyOf(node) === "exports"
      )
        this.#judgeExports(node, around);
      // A global that the module sets.
      else if (place === "AssignmentExpression.left" && propertyOf(node) === "require")
        this.#ignored.add("require");
    } else if (node.type === "Identifier") {
      if (/^(?:Function|Class)\w+\.id$/.test(place)) this.#declared.add(node.name);
      if (node.name === "exports") this.#judgeExports(node, around);
      else if (commonJsNames.has(node.name)) this.#judgeName(node, place, around);
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

  /** Judges `require`, `module`, `__dirname` or `__filename` by what is done with it. */
  #judgeName(node: Identifier, place: string, around: Surroundings): void {
    const name = node.name as CommonJsName;
    const parent = this.#parents.at(-1);
    const property = place === "MemberExpression.object" ? propertyOf(parent) : undefined;
    const isCall = place === "CallExpression.callee";
    const isOfFolder = name.startsWith("__");
    if (parent?.type === "UnaryExpression" && parent.operator === "typeof") {
      for (const one of isOfFolder ? [name] : commonJsNames) this.#ignored.add(one);
    } else if (isOfFolder ? this.#isDeclaring(place) : !isCall && property === undefined)
      this.#ignored.add(name === "module" ? "exports" : name);
    else if (name !== "module") {
      const [first] = isCall && parent?.type === "CallExpression" ? parent.arguments : [];
      // Modules of Bun exist only where `require` does.
      const isOfBun = first?.type === "Literal" && /^bun(?::|$)/.test(String(first.value));
      if (!isOfBun && property !== "extensions" && property !== "cache")
        this.#uses.push({ name, index: node.start, ...around });
    }
  }

  #isDeclaring(place: string): boolean {
    return (
      declaring.test(place) || (place === "Property.value" && this.#parents.at(-2)?.type === "ObjectPattern")
    );
  }

  /** Judges `exports` or `module.exports` by what is done with it. */
  #judgeExports(node: Identifier | MemberExpression, around: Surroundings): void {
    const parent = this.#parents.at(-1);
    const isWhole = node.type === "MemberExpression";
    if (parent?.type === "MemberExpression" && parent.object === node) this.#isOpen ||= parent.computed;
    else if (
      parent?.type === "CallExpression" &&
      parent.arguments[0] === node &&
      propertyOf(parent.callee) === "defineProperty"
    )
      this.#isOpen ||= parent.arguments[1]?.type !== "Literal";
    else if (isWhole && parent?.type === "AssignmentExpression" && parent.left === node)
      this.#exported.push(parent.right);
    else {
      this.#isOpen = true;
      if (!isWhole) this.#ignored.add("exports");
    }
    if (!around.isInFunction) this.#uses.push({ name: "exports", index: node.start, ...around });
  }
}

/** The name of the property that a node reads, if it is not computed. */
const propertyOf = (node: AnyNode | undefined): string | undefined =>
  node?.type === "MemberExpression" && !node.computed && node.property.type === "Identifier"
    ? node.property.name
    : undefined;

/** The exports and imports of an ES module, by its declarations. */
function readDeclarations({ body }: Program) {
  const names = new Set<string>();
  const reexports = new Map<string, string>();
  const stars: string[] = [];
  const imported = new Map<string, string>();
  const imports: WrittenImport[] = [];
  const declarations = body.filter((one) => /^(?:Im|Ex)port.*Declaration$/.test(one.type));
  for (const one of declarations)
    if ("source" in one && one.source) {
      const specifier = String(one.source.value);
      imports.push({ specifier, kind: "esm", index: one.start, isGuarded: false });
      if (one.type === "ImportDeclaration")
        for (const { local } of one.specifiers) imported.set(local.name, specifier);
    }
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
  return { names, reexports, stars, imports, hasSyntax: declarations.length > 0 };
}

const nameOf = (name: Identifier | Literal): string =>
  name.type === "Identifier" ? name.name : String(name.value);

/** The names that a declaration or a pattern declares. */
function namesOf(node: Declaration | Pattern): string[] {
  switch (node.type) {
    case "Identifier":
      return [node.name];
    case "VariableDeclaration":
      return node.declarations.flatMap(({ id }) => namesOf(id));
    case "ObjectPattern":
      return node.properties.flatMap((one) => namesOf(one.type === "Property" ? one.value : one.argument));
    case "ArrayPattern":
      return node.elements.flatMap((one) => (one ? namesOf(one) : []));
    case "AssignmentPattern":
      return namesOf(node.left);
    default:
      return "id" in node ? namesOf(node.id) : "argument" in node ? namesOf(node.argument) : [];
  }
}

/** Code with any of these needs more than a look at its declarations. */
const surveyed = /\bimport\b\s*[(.]|\b(?:require|exports|__dirname|__filename)\b/;

function readEsm(text: string, program: Program, isDetected: boolean): ParsedModule {
  const { imports, hasSyntax, ...exported } = readDeclarations(program);
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
