/** What to look for, by what a parser says of a text. */
const hints: readonly (readonly [RegExp, string])[] = [
  [/\btabs? /i, "YAML is indented with spaces: replace the tabs."],
  [
    /Nested mappings are not allowed|block (?:sequence|map) may not be used|Implicit keys need/,
    'Put a text that contains ": " in quotes, and indent the keys of one map alike.',
  ],
  [/reserved character|directive indicator/, "Put a text that begins with @, ` or % in quotes."],
  [/All mapping items must start/, "Indent the keys of one map alike."],
  [/Missing closing .?quote/, "Close the quotes."],
  [/must be sufficiently indented and end with/, "Close the bracket."],
  [/stands for nothing/, "Put a text that begins with * in quotes."],
  [/no key << that merges/, "Write out what it is to bring; an alias can stand for a whole value."],
  [/a comma before the end/, "Remove the comma: JSON has none after the last entry."],
  [/invalid comment token/, "Remove the comment: JSON has none."],
  [/is not UTF-8/, "Save the file as UTF-8."],
];

const missingPackage = /Cannot find (?:package|module) '((?:@[\w.~-]+\/)?\w[\w.~-]*)(?:\/[\w.~/-]*)?'/;

/** What to do about a module that cannot be loaded; `undefined` where the reason says it already. */
export function hintForModule(reason: string): string | undefined {
  const name = missingPackage.exec(reason)?.[1];
  return name && `Declare "${name}" among the "dependencies" in the pack's package.json.`;
}

/** What to do about a text that cannot be parsed; `undefined` where the reason says it already. */
export function hintForSyntax(reason: string): string | undefined {
  return hints.find(([pattern]) => pattern.test(reason))?.[1];
}
