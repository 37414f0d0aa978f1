/** What may stand behind `module.exports =` without bringing names that the text does not hold. */
const plainValue = /^(?:\{|(?:async\s+)?function\b|class\b|([A-Za-z_$][\w$]*)\s*(?:[;\n]|$))/;

interface Context {
  hasSpread: boolean;
  /** Functions and classes that the text declares. */
  declared: ReadonlySet<string>;
}

/** Whether a use of `exports`, by what stands before and behind it, may add names that the text does not hold. */
function mayAddNames(before: string, behind: string, { hasSpread, declared }: Context): boolean {
  if (/^\s*\.\s*[A-Za-z_$]/.test(behind)) return false;
  if (/defineProperty\s*\(\s*(?:module\s*\.\s*)?$/.test(before)) return !/^\s*,\s*["']/.test(behind);
  const assigned = /^\s*=(?![=>])\s*/.exec(behind);
  if (assigned === null || !/\bmodule\s*\.\s*$/.test(before)) return true;
  const plain = plainValue.exec(behind.slice(assigned[0].length));
  if (plain === null) return true;
  const [, identifier] = plain;
  return identifier === undefined ? hasSpread : !declared.has(identifier);
}

/**
 * Whether a CommonJS module surely has no export of this name: the name is nowhere in its text, and nothing is
 * exported as a whole, as `Object.assign(exports, other)` or `module.exports = make()` do. When in doubt, it may.
 */
export function rulesOutExport(text: string, name: string): boolean {
  const word = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  if (new RegExp(`(?<![\\w$])${word}(?![\\w$])`).test(text)) return false;
  // Comments like to speak of exports; a line of one that ends with code stays.
  const code = text.replace(/^[ \t]*(?:\/\/|(?!.*\*\/[ \t]*\S)\/?\*).*$/gm, "");
  const declarations = code.matchAll(/\b(?:function|class)\s+([A-Za-z_$][\w$]*)/g);
  const declared = new Set([...declarations].map(([, declaredName = ""]) => declaredName));
  const context = { hasSpread: code.includes("..."), declared };
  for (const { index } of code.matchAll(/(?<![\w$])exports(?![\w$])/g)) {
    const before = code.slice(Math.max(0, index - 60), index);
    if (mayAddNames(before, code.slice(index + "exports".length, index + 300), context)) return false;
  }
  return true;
}
