import { entry, errorInValidation } from "./entry.ts";
import { listOf, quote } from "./text.ts";

/** Faults of the `trailblaze` field itself. */
export const extensionProblems = {
  NoExtension: entry<{ name: string }>({
    title: "The package has no trailblaze field",
    severity: "error",
    message: ({ name }) => `${name} has no \`trailblaze\` field in its package.json, so it is not a pack.`,
    hint: () => 'Add one, for example "trailblaze": { "tools": ["myTool"] }.',
  }),
  MalformedExtension: entry<{ what: string; expected: string; found: string }>({
    title: "The trailblaze field has the wrong shape",
    severity: "error",
    message: ({ what, expected, found }) => `${what} must be ${expected}, but is ${found}.`,
  }),
  UnknownExtensionKey: entry<{ key: string; known: readonly string[]; suggestion: string | undefined }>({
    title: "The trailblaze field has a key that means nothing",
    severity: errorInValidation,
    message: ({ key }) => `The key ${quote(key)} is unknown here.`,
    hint: ({ known, suggestion }) =>
      suggestion === undefined
        ? `Known keys: ${listOf(known, "and")}. A key of your own begins with "x-".`
        : `Did you mean "${suggestion}"?`,
  }),
  InvalidDeclaration: entry<{ reason: string; key: string }>({
    title: "A declaration has none of the three forms",
    severity: "error",
    message: ({ reason }) => `This declaration is not usable: ${reason}.`,
    hint: ({ key }) =>
      `Write a ${key.slice(0, -1)} as "name", as ["name", "description"] or as { "name": "…", "description": "…" }.`,
  }),
  InvalidItemName: entry<{ name: string; reason: string }>({
    title: "An item's name is not allowed",
    severity: "error",
    message: ({ name, reason }) => `${quote(name)} cannot be the name of an item: ${reason}.`,
    hint: () =>
      'Use 1 to 64 of A-Z, a-z, 0-9, "_", "." and "-", beginning with a letter or a digit, for example "createIssue".',
  }),
  DuplicateDeclaration: entry<{ name: string; other: string; key: string }>({
    title: "Two items of one kind share a name",
    severity: "error",
    message: ({ name, other, key }) =>
      name === other
        ? `"${name}" is declared more than once in "${key}".`
        : `"${name}" differs from "${other}" in "${key}" only in case, so their files would collide on some systems.`,
    hint: () => "Remove or rename one of the two; the first one counts.",
  }),
  HostVersionUnsupported: entry<{ range: string; version: string; invalid: boolean }>({
    title: "The pack asks for another version of Trailblaze",
    severity: "warning",
    message: ({ range, version, invalid }) =>
      invalid
        ? `"engines.trailblaze" is ${quote(range)}, which is not a semver range.`
        : `The pack works with Trailblaze ${quote(range)}, but this is ${version}.`,
    hint: ({ invalid }) =>
      invalid
        ? 'Write a range such as "^1.0.0", or leave it out.'
        : "Install a version of the pack made for this host, or another version of Trailblaze.",
  }),
};
