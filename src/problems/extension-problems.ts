import { entry, errorInValidation } from "./entry.ts";

/** Problems in the `trailblaze` field itself. */
export const extensionProblems = {
  /** `name` is that of the package, or the path of the workspace's root, whose members may be packs. */
  NoExtension: entry({
    message: "{name} is not a pack: its package.json has no `trailblaze` field.",
    hint: 'Add the field, for example: "trailblaze": { "tools": ["myTool"] }',
    when: {
      isWorkspace: { message: 'No package of the workspace in "{name:400}" has a `trailblaze` field.' },
      hasMembers: { hint: "Run `trailblaze validate --workspaces` to validate the packs of the workspace." },
    },
  }),
  MalformedExtension: entry({
    message: "{what} must be {expected}, but it is {found}.",
  }),
  UnknownExtensionKey: entry({
    severity: errorInValidation,
    message: 'Unknown key "{key}" in the `trailblaze` field.',
    hint: 'Use one of {known:or}, or start a custom key with "x-".',
    when: { suggestion: { hint: 'Did you mean "{suggestion}"?' } },
  }),
  InvalidDeclaration: entry({
    message: "Invalid declaration: {reason}.",
    hint: 'Declare each of "{key}" as "name", ["name", "description"] or { "name": "…", "description": "…" }.',
  }),
  InvalidItemName: entry({
    message: '"{name}" is not a valid item name: {reason}.',
    hint: 'Use 1 to 64 characters from A-Z, a-z, 0-9, "_", "." and "-", starting with a letter or digit, for example "createIssue".',
  }),
  DuplicateDeclaration: entry({
    message: ({ name, other, key }: { name: string; other: string; key: string }) =>
      name === other
        ? `"${name}" is declared more than once in "${key}".`
        : `"${name}" and "${other}" in "${key}" differ only in case, so their files collide on some file systems.`,
    hint: "Remove or rename one of them. Until then, the first one is used.",
  }),
  InvalidNeeds: entry({
    message: "Invalid `needs`: {reason}.",
    when: { hint: { hint: "{hint}" } },
  }),
  HostVersionUnsupported: entry({
    severity: "warning",
    message: 'The pack requires Trailblaze "{range}", but this is version {version}.',
    hint: "Install a version of the pack that supports Trailblaze {version}, or a version of Trailblaze that the pack supports.",
    when: {
      invalid: {
        message: '"engines.trailblaze" is "{range}", which is not a valid semver range.',
        hint: 'Use a range such as "^1.0.0", or remove the key.',
      },
    },
  }),
};
