/** Hints by the cause of a syntax error, as conditions of entries. */
export const syntaxHints = {
  "cause=nestedMapping": {
    hint: 'Quote strings that contain ": ", and indent all keys of an object equally.',
  },
  "cause=expression": { hint: 'Quote the expression: inside { } and [ ], write "${{ … }}".' },
  "cause=unknownAlias": { hint: "Quote strings that start with *." },
  "cause=mergeKey": { hint: "Write out the keys: an alias can only replace a whole value." },
  "cause=trailingComma": { hint: "Remove the trailing comma: JSON does not allow it." },
  "cause=comment": { hint: "Remove the comment: JSON does not allow comments." },
  "cause=encoding": { hint: "Save the file as UTF-8." },
  "cause=commonJs": {
    hint: "Replace `module.exports` with `export default` and `require` with `import`, or use the extension .cjs.",
  },
  "cause=esModule": { hint: 'Use the extension .mjs, or set "type": "module" in package.json.' },
} as const;

type CauseOf<Condition> = Condition extends `cause=${infer Cause}` ? Cause : never;

export type SyntaxCause = CauseOf<keyof typeof syntaxHints>;

/** Why a file cannot be parsed. */
export interface SyntaxFault {
  reason: string;
  cause?: SyntaxCause | undefined;
}
