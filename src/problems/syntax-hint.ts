/** Causes of syntax errors that have a hint. */
export type SyntaxCause =
  | "tab"
  | "nestedMapping"
  | "reservedCharacter"
  | "indentation"
  | "unclosedQuote"
  | "unclosedBracket"
  | "expression"
  | "unknownAlias"
  | "mergeKey"
  | "trailingComma"
  | "comment"
  | "encoding"
  | "commonJs"
  | "esModule";

const hints: Readonly<Record<SyntaxCause, string>> = {
  tab: "Replace the tabs with spaces: YAML does not allow tabs in indentation.",
  nestedMapping: 'Quote strings that contain ": ", and indent all keys of an object equally.',
  reservedCharacter: "Quote strings that start with @, ` or %.",
  indentation: "Indent all keys of an object equally.",
  unclosedQuote: "Add the missing closing quote.",
  unclosedBracket: "Add the missing closing bracket.",
  expression: 'Quote the expression: inside { } and [ ], write "${{ … }}".',
  unknownAlias: "Quote strings that start with *.",
  mergeKey: "Write out the keys: an alias can only replace a whole value.",
  trailingComma: "Remove the trailing comma: JSON does not allow it.",
  comment: "Remove the comment: JSON does not allow comments.",
  encoding: "Save the file as UTF-8.",
  commonJs:
    "Replace `module.exports` with `export default` and `require` with `import`, or use the extension .cjs.",
  esModule: 'Use the extension .mjs, or set "type": "module" in package.json.',
};

/** The hint for a file that cannot be parsed; `undefined` if the reason is sufficient. */
export const hintForSyntax = (cause: SyntaxCause | undefined): string | undefined => cause && hints[cause];
