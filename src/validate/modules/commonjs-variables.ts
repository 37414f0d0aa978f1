// Finds variables of CommonJS in ES modules, where Node does not define them, without a parser.
import { blankNonCode } from "./code-skeleton.ts";

/** A use of a variable that only CommonJS modules have. */
export interface CommonJsUse {
  name: "require" | "module" | "exports" | "__dirname" | "__filename";
  index: number;
  /** It fails only when the function is called. */
  isInFunction: boolean;
}

const names = ["require", "__dirname", "__filename"] as const;

/** A bracket that is open, and what is known of the code in it up to a position. */
interface Group {
  /** Its code does not always run. */
  isConditional: boolean;
  isInFunction: boolean;
  /** Its names are declared: parameters, or a destructuring. */
  isPattern: boolean;
  /** The statement has a condition; `before` is the same without the last keyword. */
  hasCondition: boolean;
  before: boolean;
  /** The expression has an operator with a condition. */
  hasSign: boolean;
  /** Conditional operators whose `:` has not come yet. */
  questions: number;
  /** The code is the body of an arrow function without braces. */
  isInArrow: boolean;
}

const token =
  /(?<![\w$#]|(?<!\.\.)\.)(?:(?<name>require|__dirname|__filename)(?![\w$])|(?<use>module\s*\.\s*exports(?![\w$])|exports(?<=defineProperty\s*\(\s*exports)(?![\w$])|exports\s*(?:\.\s*[\w$]+|\[[^\]\n]*\])\s*=(?![=>]))|(?<condition>(?:if|else|try|catch|finally|switch|case|while|for|do|with)(?![\w$])|default(?=\s*:))|(?<start>(?:const|let|export)(?=[\s{[])))|(?<arrow>=>)|(?<sign>\?\?|\?(?!\.)|&&|\|\||:)|(?<line>(?<=[\w$)\]}])[^\S\n]*\n\s*(?=[\w$]))|[;,{}()[\]]/g;

/** `module` and `exports` where the module may declare them, or checks for them first: then their use may be correct. */
const mayDeclareExports =
  /(?<![\w$.])(?:(?:import|as)\s+(?:module|exports)|module(?!\s*[.:\w$])|exports(?<!defineProperty\s*\(\s*exports)(?!\s*[.[:\w$])|typeof\s+(?:module|exports))(?![\w$])/;

/** The index of the closing bracket of each open one. */
function matchBrackets(skeleton: string): Map<number, number> {
  const closing = new Map<number, number>();
  const open: number[] = [];
  for (const { 0: mark, index } of skeleton.matchAll(/[{}()[\]]/g)) {
    if (/[{([]/.test(mark)) open.push(index);
    else {
      const start = open.pop();
      if (start !== undefined) closing.set(start, index);
    }
  }
  return closing;
}

/** Whether a module declares or checks a variable somewhere other than in parameters and destructuring. */
function isDeclared(skeleton: string, name: string): boolean {
  const declared = [
    String.raw`\bimport\s*(?:[\w$]+\s*,\s*)?(?:\{[^}]*?|\*\s*as\s+)?(?<![\w$.])${name}`,
    String.raw`(?<![\w$.])(?:const|let|var|function\s*\*?|class|typeof)\s+${name}`,
    String.raw`[\w$)\]]\s*\.\s*${name}(?=\s*=(?![=>]))`,
    String.raw`(?<![\w$.])${name}(?=\s*=(?!=))`,
    String.raw`,\s*${name}(?=\s*;)`,
  ];
  return new RegExp(`(?:${declared.join("|")})(?![\\w$])`).test(skeleton);
}

/** The text around positions, without the white space next to them. */
function createSurroundings(skeleton: string) {
  const next = /\s*(=>|=(?!=)|[^\s])?/y;
  return {
    before(index: number): string {
      let end = index;
      while (end > 0 && /\s/.test(skeleton[end - 1] as string)) end--;
      return skeleton.slice(Math.max(0, end - 80), end);
    },
    after(index: number): string {
      next.lastIndex = index;
      return next.exec(skeleton)?.[1] ?? "";
    },
  };
}

/**
 * The first use of a CommonJS variable that fails when the module is loaded, otherwise the first that fails when a function
 * is called. Ignores uses behind a condition, which may be meant for another runtime, and variables that the module declares
 * or checks for.
 */
export function findCommonJsUse(text: string): CommonJsUse | undefined {
  if (!/\b(?:module|exports|require|__dirname|__filename)\b/.test(text)) return undefined;
  const skeleton = blankNonCode(text);
  const closing = matchBrackets(skeleton);
  const { before, after } = createSurroundings(skeleton);
  const isUmd = /(?<![\w$.])typeof\s+(?:module|exports|require)(?![\w$])/.test(skeleton);
  const ignored = new Set<string>(names.filter((name) => isUmd || isDeclared(skeleton, name)));
  if (mayDeclareExports.test(skeleton)) ignored.add("exports");
  const searched = ["exports", ...names].filter((name) => !ignored.has(name) && skeleton.includes(name));
  if (searched.length === 0) return undefined;
  const found: CommonJsUse[] = [];
  let top: Group = {
    ...{ isConditional: false, isInFunction: false, isPattern: false, isInArrow: false },
    ...{ hasCondition: false, before: false, hasSign: false, questions: 0 },
  };
  const outer: Group[] = [];
  let braces = 0;
  let closesControl = false;

  const open = (mark: string, index: number) => {
    const left = before(index);
    const right = after((closing.get(index) ?? skeleton.length) + 1);
    const control = mark === "(" && /(?<![\w$.])(?:if|while|switch|for|for\s+await|with|catch)$/.exec(left);
    const isParameters = mark === "(" && (control ? control[0] === "catch" : /^(?:=>|\{)$/.test(right));
    const isBody =
      mark === "{" &&
      (left.endsWith("=>") || (left.endsWith(")") && !closesControl) || /\bclass\b[^;{}()]*$/.test(left));
    const isDestructured =
      mark !== "(" &&
      ((top.isPattern && !left.endsWith("=")) ||
        right === "=" ||
        /(?:^|[^\w$.])(?:const|let|var)$/.test(left));
    outer.push(top);
    top = {
      isConditional: top.isConditional || (control ? top.before : top.hasCondition || top.hasSign),
      isInFunction: top.isInFunction || top.isInArrow || isParameters || isBody,
      isPattern: isParameters || isDestructured,
      ...{ hasCondition: false, before: false, hasSign: false, questions: 0, isInArrow: false },
    };
    if (mark === "{") braces++;
  };

  const close = (mark: string, index: number) => {
    top = outer.pop() ?? top;
    if (mark !== "}") {
      closesControl = /(?<![\w$.])(?:if|while|switch|for|for\s+await|with|catch)$/.test(before(index));
      return;
    }
    braces--;
    top.hasCondition = false;
    top.hasSign = false;
  };

  const judge = (name: (typeof names)[number], index: number) => {
    const end = index + name.length;
    const [left, right] = [before(index), after(end)];
    const isKey = right === ":" && /[{,]$/.test(left);
    if (isKey || /(?<!\.\.)\.$/.test(left)) return;
    const isDefault = /=$/.test(left);
    if ((top.isPattern && !isDefault) || right === "=>") ignored.add(name);
    else if (name === "require") {
      const isCall = right === "(";
      const callEnd = isCall ? closing.get(skeleton.indexOf("(", end)) : undefined;
      // A method with this name.
      if (callEnd !== undefined && after(callEnd + 1) === "{") return;
      if (/^\s*\.\s*(?:extensions|cache)\b/.test(skeleton.slice(end, end + 40))) return;
      if (!isCall && right !== ".") {
        ignored.add(name);
        return;
      }
      // Modules of Bun exist only where `require` does.
      if (isCall && /^\s*\(\s*["'`]bun(?::|["'`])/.test(text.slice(end, end + 40))) return;
    }
    if (top.isConditional || top.hasCondition || top.hasSign) return;
    found.push({ name, index, isInFunction: top.isInFunction || top.isInArrow });
  };

  const opened: number[] = [];
  for (const { 0: mark, index, groups = {} } of skeleton.matchAll(token)) {
    if (groups.name !== undefined) judge(groups.name as (typeof names)[number], index);
    else if (groups.use !== undefined) {
      if (braces === 0) found.push({ name: "exports", index, isInFunction: false });
    } else if (groups.start !== undefined || mark === ";") {
      Object.assign(top, { hasCondition: false, hasSign: false, isInArrow: false, questions: 0 });
    } else if (groups.condition !== undefined) {
      top.before = top.hasCondition || top.hasSign;
      top.hasCondition = true;
    } else if (groups.arrow !== undefined) top.isInArrow = true;
    else if (groups.line !== undefined) top.isInArrow = false;
    else if (mark === ",") Object.assign(top, { hasSign: false, isInArrow: false });
    else if (mark === ":") {
      if (top.questions === 0) continue;
      top.questions--;
      top.hasSign = true;
    } else if (groups.sign !== undefined) {
      if (mark === "?") top.questions++;
      top.hasSign = true;
    } else if (/[{([]/.test(mark)) {
      opened.push(index);
      open(mark, index);
    } else close(mark, opened.pop() ?? index);
  }
  const reported = found.filter(({ name }) => !ignored.has(name));
  return reported.find(({ isInFunction }) => !isInFunction) ?? reported[0];
}
