/** Causes of syntax errors that have a hint. */
export type SyntaxCause =
  | "tab"
  | "nestedMapping"
  | "reservedCharacter"
  | "indentation"
  | "unclosedQuote"
  | "unclosedBracket"
  | "unknownAlias"
  | "mergeKey"
  | "trailingComma"
  | "comment"
  | "encoding";

const hints: Readonly<Record<SyntaxCause, string>> = {
  tab: "YAML is indented with spaces: replace the tabs.",
  nestedMapping: 'Put a string that contains ": " in quotes, and indent the keys of one object alike.',
  reservedCharacter: "Put a string that begins with @, ` or % in quotes.",
  indentation: "Indent the keys of one object alike.",
  unclosedQuote: "Close the quotes.",
  unclosedBracket: "Close the bracket.",
  unknownAlias: "Put a string that begins with * in quotes.",
  mergeKey: "Write out the keys; an alias can only replace a whole value.",
  trailingComma: "Remove the comma: JSON has none after the last entry.",
  comment: "Remove the comment: JSON has none.",
  encoding: "Save the file as UTF-8.",
};

/** The hint for data that cannot be parsed; `undefined` if the reason is sufficient. */
export const hintForSyntax = (cause: SyntaxCause | undefined): string | undefined => cause && hints[cause];
