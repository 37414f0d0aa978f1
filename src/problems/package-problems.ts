import { entry } from "./entry.ts";

export const packageProblems = {
  // The `trailblaze` field.
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
  /** In validation an error. */
  UnknownExtensionKey: entry({
    severity: "warning",
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
    hint: 'Write arrays of strings. Those of `env` are names of variables without values, for example "JIRA_TOKEN".',
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

  // The package itself: what works in its own folder but fails after publishing or installation.
  /** `others`: how many other modules import it. `isServer`: a subprocess server runs a command of it. */
  UndeclaredDependency: entry({
    message:
      'The pack imports "{name}"[, also in {others:count} more module{others:s}], but package.json does not declare it as a dependency.',
    hint: 'Add "{name}" to "dependencies" in package.json. For an alias of a compiler, use a relative path instead.',
    when: {
      isServer: {
        message: 'The pack runs a command of "{name}", but package.json does not declare it as a dependency.',
      },
      isDev: { hint: 'Move "{name}" from "devDependencies" to "dependencies" in package.json.' },
      isGuarded: { severity: "warning", hint: 'Add "{name}" to "optionalDependencies" in package.json.' },
    },
  }),
  /**
   * `packageName`: the package in whose folder of node_modules the file is. `isExport`: the pack itself does not need the file.
   */
  FileNotPublished: entry({
    message: 'The published package would lack "{file}"[, which "{importer}" imports].',
    hint: 'Add it to "files" in package.json, or remove the rule in .npmignore or .gitignore that excludes "{file}".',
    when: {
      isExport: { severity: "warning" },
      packageName: {
        hint: 'npm does not publish node_modules: let a module of the pack import "{packageName}" by its name.',
      },
    },
  }),
  UnpublishableDependency: entry({
    message: 'The dependency "{name}" is "{spec:200}", a path on your machine.',
    hint: 'Use a version from the registry, for example "^1.0.0". Bundle a package that is not published with "bundleDependencies".',
  }),
  UnparsableModule: entry({
    message: 'Node cannot parse "{file:200}": {reason}.',
    hint: "Correct the syntax. Compile TypeScript and JSX to JavaScript first.",
  }),
  WrongModuleFormat: entry({
    when: {
      "readAs=commonjs": {
        message: 'Node reads "{file:200}" as CommonJS, but it is written as an ES module.',
        hint: 'Give it the extension .mjs, or set "type": "module" in package.json.',
      },
      "readAs=esm": {},
    },
    message: 'Node reads "{file:200}" as an ES module, but it uses CommonJS.',
    hint: "Give it the extension .cjs, or use `export`, `import` and `import.meta.dirname`.",
  }),
  TypeScriptNotPublishable: entry({
    message: '"{file:200}" is TypeScript, which Node does not run in installed packages.',
    hint: "Compile it to JavaScript. Name the compiled file instead; a definition is found beside its source.",
    when: { isPrivate: { severity: "info" } },
  }),
  InvalidPackageManifest: entry({
    message: 'npm does not publish a package with this `{key}`[ ("{value}")]: {reason}.',
    when: {
      "key=version": { hint: 'Set "version" to three numbers, for example "1.0.0".' },
      "key=name": { hint: 'Set "name" to lower-case letters, digits and "-", for example "my-tools".' },
    },
  }),
  PrivatePackage: entry({
    severity: "info",
    message: "The package is private: npm refuses to publish it.",
    hint: 'Remove "private" from package.json before you publish the pack.',
  }),

  // What is written from a pack: its documentation and its exports.
  DocsMarkersMissing: entry({
    message:
      'Cannot write the documentation into "{file:400}": it needs one opening marker, then one closing marker; found {opening:number} and {closing:number}.',
    hint: "Add the lines `<!-- trailblaze:docs -->` and `<!-- /trailblaze:docs -->`, once each and in this order.",
  }),
  CatalogFolderTaken: entry({
    message: 'Cannot write the catalog to "{folder:400}": {reason}.',
    hint: "Pass a folder that is empty or that `trailblaze catalog` has written, or move the file away.",
  }),
  ExportConflict: entry({
    message: '["{key}" in ]"{file:400}" exists with other contents.',
    hint: "Pass --force to replace it, or --out to write to another folder.",
  }),
  ExportNeedsBin: entry({
    message: 'The command of the server "{name:200}" is not the one that npx runs by default.',
    hint: 'In "bin" of package.json, give its command the name of the package without the scope.',
    when: {
      isDefault: {
        message: 'No command in "bin" of package.json starts the server "{name:200}".',
        hint: "Run `trailblaze export bin {server:shell}`.",
      },
    },
  }),
  ExportNameUnusable: entry({
    message: 'The format does not allow the name "{name:200}": it takes {rule}.',
    hint: "Pass another one with --name.",
  }),
  ExportNeedsMcpName: entry({
    message:
      'package.json has no "mcpName" that the MCP registry allows for a server[: it is "{mcpName:200}"].',
    hint: 'Add, for example, "mcpName": "io.github.OWNER/NAME". The registry checks that OWNER is you.',
  }),
  ExportDescriptionTooLong: entry({
    message: "The format requires a description of 1 to {most:number} characters[, not of {length:number}].",
    hint: "Pass one with --description.",
  }),
  EnvironmentNotExported: entry({
    severity: "warning",
    message: 'The format {format} has no place for the environment variable "{name}" of the server.',
    hint: "Tell users to set {name} in their environment.",
  }),
};
