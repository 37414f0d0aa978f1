import { entry, errorInValidation } from "./entry.ts";
import { listOf, quote } from "./text.ts";

/** Problems in the `trailblaze` field itself. */
export const extensionProblems = {
  NoExtension: entry<{
    /** Of the package, or the path of the workspace's root. */
    name: string;
    isWorkspace?: boolean;
    /** The package is the root of a workspace, whose packages may be packs. */
    hasMembers?: boolean;
  }>({
    title: "The package has no trailblaze field",
    severity: "error",
    message: ({ name, isWorkspace }) =>
      isWorkspace
        ? `No package of the workspace in ${quote(name, 400)} has a \`trailblaze\` field.`
        : `${name} is not a pack: its package.json has no \`trailblaze\` field.`,
    hint: ({ hasMembers }) =>
      hasMembers
        ? "Run `trailblaze validate --workspaces` to validate the packs of the workspace."
        : 'Add the field, for example: "trailblaze": { "tools": ["myTool"] }',
  }),
  MalformedExtension: entry<{ what: string; expected: string; found: string }>({
    title: "Value in the trailblaze field has the wrong type",
    severity: "error",
    message: ({ what, expected, found }) => `${what} must be ${expected}, but it is ${found}.`,
  }),
  UnknownExtensionKey: entry<{ key: string; known: readonly string[]; suggestion: string | undefined }>({
    title: "Unknown key in the trailblaze field",
    severity: errorInValidation,
    message: ({ key }) => `Unknown key ${quote(key)} in the \`trailblaze\` field.`,
    hint: ({ known, suggestion }) =>
      suggestion === undefined
        ? `Use one of ${listOf(known, "or")}, or start a custom key with "x-".`
        : `Did you mean "${suggestion}"?`,
  }),
  InvalidDeclaration: entry<{ reason: string; key: string }>({
    title: "Declaration has none of the three valid forms",
    severity: "error",
    message: ({ reason }) => `Invalid declaration: ${reason}.`,
    hint: ({ key }) =>
      `Declare a ${key.slice(0, -1)} as "name", ["name", "description"] or { "name": "…", "description": "…" }.`,
  }),
  InvalidItemName: entry<{ name: string; reason: string }>({
    title: "Invalid item name",
    severity: "error",
    message: ({ name, reason }) => `${quote(name)} is not a valid item name: ${reason}.`,
    hint: () =>
      'Use 1 to 64 characters from A-Z, a-z, 0-9, "_", "." and "-", starting with a letter or digit, for example "createIssue".',
  }),
  DuplicateDeclaration: entry<{ name: string; other: string; key: string }>({
    title: "Two items of the same kind share a name",
    severity: "error",
    message: ({ name, other, key }) =>
      name === other
        ? `"${name}" is declared more than once in "${key}".`
        : `"${name}" and "${other}" in "${key}" differ only in case, so their files collide on some file systems.`,
    hint: () => "Remove or rename one of them. Until then, the first one is used.",
  }),
  InvalidNeeds: entry<{ reason: string; hint?: string | undefined }>({
    title: "Invalid value in needs",
    severity: "error",
    message: ({ reason }) => `Invalid \`needs\`: ${reason}.`,
    hint: ({ hint }) => hint,
  }),
  HostVersionUnsupported: entry<{ range: string; version: string; invalid: boolean }>({
    title: "Pack requires a different version of Trailblaze",
    severity: "warning",
    message: ({ range, version, invalid }) =>
      invalid
        ? `"engines.trailblaze" is ${quote(range)}, which is not a valid semver range.`
        : `The pack requires Trailblaze ${quote(range)}, but this is version ${version}.`,
    hint: ({ invalid, version }) =>
      invalid
        ? 'Use a range such as "^1.0.0", or remove the key.'
        : `Install a version of the pack that supports Trailblaze ${version}, or a version of Trailblaze that the pack supports.`,
  }),
};
