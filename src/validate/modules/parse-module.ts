// Finds the exports and imports of modules without running them. Loaded on demand, because the parser is large.
import type { AnyNode, Declaration, Identifier, Literal, Pattern, Program } from "acorn";
import { positionAt } from "../../data/line-index.ts";
import { checkDepth, parseProgram } from "./parser.ts";

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

/** The statically known exports and imports of a module. */
export type ParsedModule =
  | {
      kind: ModuleKind;
      /** The names that it exports itself. */
      names: ReadonlySet<string>;
      /** Modules whose exports are all re-exported. */
      stars: readonly string[];
      imports: readonly WrittenImport[];
      /** It may export names that do not occur in its text. */
      isOpen: boolean;
      fault?: ModuleFault | undefined;
    }
  /** Node would not load it. `why` continues after the file name and the position: "cannot be parsed". */
  | { kind: "broken"; why: string; hint?: string; fault?: ModuleFault }
  /** It may export anything. */
  | { kind: "opaque"; why: string };

// Places are the type of a node and the key of its child.

/** Where a name is declared, set, or no variable. */
const noValue =
  /\.(?:id|params?|local|exported|property|key)$|^(?:Assignment\w+\.left|(?:Array|Object)Pattern\.\w+|RestElement\.argument)$/;
const conditional =
  /^(?:TryStatement\.\w+|(?:If|Conditional)\w+\.(?:consequent|alternate)|LogicalExpression\.right|SwitchStatement\.cases|(?:For|While|DoWhile)\w*\.body)$/;
const inFunction = /^(?:PropertyDefinition|(?:Arrow)?Function\w+)\.(?!key$)/;

/** The variables that only CommonJS modules have. */
const commonJsNames = ["require", "module", "exports", "__dirname", "__filename"] as const;
type CommonJsName = (typeof commonJsNames)[number];

/** What is known of the code around a node. */
interface Surroundings {
  /** The type of the node around it, and the key there. */
  place: string;
  parent: AnyNode | undefined;
  depth: number;
  isGuarded: boolean;
  /** It does not always run. */
  isConditional: boolean;
  isInFunction: boolean;
}

/** The name of the property that a node reads, if it is not computed. */
const propertyOf = (node: AnyNode | undefined): string | undefined =>
  node?.type === "MemberExpression" && !node.computed && node.property.type === "Identifier"
    ? node.property.name
    : undefined;

/** Whether a variable is used as in CommonJS. */
function isUse(name: CommonJsName, { place, parent }: Surroundings): boolean {
  if (name.startsWith("__")) return !noValue.test(place);
  if (place === "MemberExpression.object") return name !== "module" || propertyOf(parent) === "exports";
  if (name === "require") return place === "CallExpression.callee";
  const callee = parent?.type === "CallExpression" ? propertyOf(parent.callee as AnyNode) : undefined;
  return name === "exports" && callee === "defineProperty";
}

/** What the code of a module has besides its declarations of imports and exports. */
class CodeSurvey {
  readonly imports: WrittenImport[] = [];
  readonly #uses: (Surroundings & { name: CommonJsName; index: number })[] = [];
  /** Variables that the module declares, checks for or hands on: their uses may be correct. */
  readonly #ignored = new Set<string>();

  constructor(program: Program) {
    const flags = { isGuarded: false, isConditional: false, isInFunction: false };
    this.#visit(program, { place: "", parent: undefined, depth: 0, ...flags });
  }

  /** The first use of a variable of CommonJS that fails when the module is loaded, else the first in a function. */
  findCommonJsUse() {
    const uses = this.#uses.filter(({ name, isConditional }) => !isConditional && !this.#ignored.has(name));
    return uses.find(({ isInFunction }) => !isInFunction) ?? uses.find(({ name }) => name !== "exports");
  }

  #visit(node: AnyNode, around: Surroundings): void {
    const depth = around.depth + 1;
    checkDepth(depth);
    this.#judge(node, around);
    // A property of a pattern is part of it.
    const type = around.place === "ObjectPattern.properties" ? "ObjectPattern" : node.type;
    for (const [key, value] of Object.entries(node) as [string, unknown][]) {
      if (typeof value !== "object" || value === null) continue;
      const place = `${type}.${key}`;
      const isCaught = place === "CallExpression.callee" && propertyOf(value as AnyNode) === "catch";
      const inside = {
        place,
        parent: node,
        depth,
        isGuarded: around.isGuarded || place === "TryStatement.block" || isCaught,
        isConditional: around.isConditional || conditional.test(place),
        isInFunction: around.isInFunction || inFunction.test(place),
      };
      for (const child of (Array.isArray(value) ? value : [value]) as (AnyNode | null)[])
        if (typeof child?.type === "string") this.#visit(child, inside);
    }
  }

  #judge(node: AnyNode, around: Surroundings): void {
    if (node.type === "ImportExpression") this.#addImport(node, node.source, "esm", around);
    if (node.type === "CallExpression" && node.callee.type === "Identifier" && node.callee.name === "require")
      this.#addImport(node, node.arguments[0], "commonjs", around);
    const name = node.type === "Identifier" && commonJsNames.find((one) => one === node.name);
    // The variable is `module`.
    const isPart = name === "exports" && around.place === "MemberExpression.property";
    if (!name || isPart) return;
    const variable = name === "module" ? "exports" : name;
    if (around.place === "UnaryExpression.argument") for (const one of commonJsNames) this.#ignored.add(one);
    else if (isUse(name, around)) this.#uses.push({ ...around, name: variable, index: node.start });
    else this.#ignored.add(variable);
  }

  #addImport(
    node: AnyNode,
    source: AnyNode | undefined,
    kind: ModuleKind,
    { isGuarded }: Surroundings,
  ): void {
    const isTemplate = source?.type === "TemplateLiteral" && source.expressions.length === 0;
    const literal = source?.type === "Literal" ? source.value : undefined;
    const specifier = isTemplate ? source.quasis[0]?.value.cooked : literal;
    if (typeof specifier === "string" && specifier !== "")
      this.imports.push({ specifier, kind, index: node.start, isGuarded });
  }
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

/** The exports and imports of an ES module, by its declarations. */
function readDeclarations({ body }: Program) {
  const names = new Set<string>();
  const stars: string[] = [];
  const imports: WrittenImport[] = [];
  const declarations = body.filter((one) => /^(?:Im|Ex)port.*Declaration$/.test(one.type));
  for (const one of declarations) {
    const specifier = "source" in one && one.source ? String(one.source.value) : undefined;
    if (specifier !== undefined) imports.push({ specifier, kind: "esm", index: one.start, isGuarded: false });
    if (one.type === "ExportDefaultDeclaration") names.add("default");
    else if (one.type === "ExportAllDeclaration") {
      if (one.exported) names.add(nameOf(one.exported));
      else stars.push(String(specifier));
    } else if (one.type === "ExportNamedDeclaration") {
      for (const name of one.declaration ? namesOf(one.declaration) : []) names.add(name);
      for (const { exported } of one.specifiers) names.add(nameOf(exported));
    }
  }
  return { names, stars, imports, hasSyntax: declarations.length > 0 };
}

/** Code with any of these needs more than a look at its declarations. */
const surveyed = /\bimport\b\s*[(.]|\b(?:require|exports|__dirname|__filename)\b/;

function readEsm(text: string, program: Program, isDetected: boolean): ParsedModule {
  const { imports, hasSyntax, ...exported } = readDeclarations(program);
  const module = { kind: "esm" as const, imports, isOpen: false, ...exported };
  if (!surveyed.test(text)) return module;
  const survey = new CodeSurvey(program);
  imports.push(...survey.imports.filter(({ kind }) => kind === "esm"));
  imports.sort((one, other) => one.index - other.index);
  const use = survey.findCommonJsUse();
  if (use === undefined) return module;
  const { name, isInFunction, index } = use;
  const isMixed = isDetected || hasSyntax || /\bimport\s*\.\s*meta\b/.test(text);
  const fault: ModuleFault =
    isInFunction || name.startsWith("__")
      ? { fault: "variable", name, isInFunction, ...positionAt(text, index) }
      : { fault: "format", readAs: "esm", isMixed, ...positionAt(text, index) };
  return { ...module, fault };
}

/** CommonJS that may export more names than those that it assigns one by one: of another value, or in computed places. */
const openExports =
  /\bmodule\s*\[|\bexports\s*\[|(?<!defineProperty\(\s*)\bexports\s*[,)]|=\s*exports\b(?!\s*\.)|\bexports\s*=(?!=)(?!\s*(?:\{|(?:async\s+)?function\b|class\b|\([^()]*\)\s*=>))|\.\.\./;

/** Finds the same named exports as Node. */
async function readCommonJs(text: string, program: Program): Promise<ParsedModule> {
  const { parse } = await import("cjs-module-lexer");
  const { exports, reexports } = parse(text);
  const names = new Set([...exports, "default"]);
  names.delete("__esModule");
  const { imports } = new CodeSurvey(program);
  return { kind: "commonjs", names, stars: reexports, imports, isOpen: openExports.test(text) };
}

/** The messages by which Node itself detects the format of a module, and those of the parser. */
const saysEsm =
  /^(?:Cannot use import statement outside a module|Unexpected token 'export'|'import' and 'export' may|Cannot use 'import\.meta' outside a module)/;

/**
 * Parses a module in a format, or like Node in the one that its syntax shows. Only Node decides that it cannot be parsed,
 * as it may know newer syntax; if it must not be asked, because that takes a process, the parser's own error counts.
 */
export async function parseModule(
  text: string,
  format: ModuleKind | undefined,
  mayAskNode: boolean,
): Promise<ParsedModule> {
  const errors = new Map<ModuleKind, unknown>();
  for (const kind of format === undefined ? (["commonjs", "esm"] as const) : [format]) {
    try {
      const program = parseProgram(text, kind);
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
  const known = { reason, ...positionAt(text, Number((error as { pos?: number }).pos)) };
  const askNode = async () =>
    (await import("../../confinement/confined-process.ts")).findSyntaxErrorIn(text, kind);
  const found = mayAskNode ? await askNode() : known;
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
