import type { Kind } from "../kinds.ts";
import { entry, entryOf } from "./entry.ts";

const invalidDefinition = (kind: Kind) =>
  entry({
    message: `Invalid ${kind} definition: {reason}.`,
    when: { hint: { hint: "{hint}" } },
  });

export const definitionProblems = {
  // Their files.
  MissingRootDirectory: entry({
    message: 'The package declares items, but its definition folder "{root}" does not exist.',
    hint: 'Create the folder "{root}", or set "root" to another folder.',
  }),
  /** `own`: the possible files of this item alone. `combined`: the file for all items of its kind, or the possible ones. */
  MissingDefinitionFile: entry({
    message: '"{name}" is declared but has no definition file.',
    when: { isSkill: { hint: 'Create "{own:200}", or remove the name from "skills".' } },
    hint: 'Create "{own:200}", add the key "{name}" to "{combined:200}", or remove the declaration.',
  }),
  DuplicateDefinitionFiles: entry({
    message: '"{used}" is used instead of {others:quotes}.',
    hint: "Keep one of them and delete the rest.",
  }),
  UnsupportedDefinitionFormat: entry({
    message: '"{file}" cannot be read: unknown file format.',
    hint: "Write definitions as .json, .yaml or .yml files, or as .mjs, .js or .cjs modules.",
    when: {
      "cause=unknownFormat": {},
      "cause=codeRefused": {
        message: '"{file}" cannot be read: code definitions are disabled.',
        hint: "Write it as a .json, .yaml or .yml file, or allow definitions that are code.",
      },
      "cause=installedTypeScript": {
        message:
          '"{file}" cannot be read: TypeScript is supported only in packs under development; installed packs must ship JavaScript.',
        hint: "Compile it to a .js or .mjs file next to it; that file is used instead.",
      },
      "cause=typesNotStripped": {
        message: '"{file}" cannot be read: this version of Node cannot run TypeScript.',
        hint: "Compile it to a .js or .mjs file next to it; that file is used instead.",
      },
    },
  }),
  /** `missingPackage`: a module imports it, and it is not installed. */
  InvalidDefinitionContents: entry({
    message: "Cannot read the definition: {reason}.",
    hint: 'Correct the file. In YAML, quote strings with ": " or "${{ … }}".',
    when: {
      missingPackage: { hint: 'Add "{missingPackage:214}" to "dependencies" in the pack\'s package.json.' },
    },
  }),
  DefinitionTooLarge: entry({
    message: "The file has {bytes:count} bytes; the limit is {limit:count}.",
    hint: "Move data that is not part of the definition into a file that the handler reads.",
  }),
  DefinitionOutsidePackage: entry({
    message: '"{what}" is outside the package (symbolic links are followed).',
    hint: "Move it into the package: npm publishes only files inside it.",
    when: { hint: { hint: "{hint}" } },
  }),
  OrphanDefinitionFile: entry({
    severity: "warning",
    message: '"{name}" has a definition but is not declared in "{key}", so it is ignored.',
    hint: 'Add "{name}" to "{key}" in package.json, or delete the definition.',
  }),
  ShadowedDefinition: entry({
    severity: "warning",
    message: '"{name}" is defined in "{file}", so its definition in "{combined}" is ignored.',
    hint: "Remove one of the two definitions.",
  }),

  // Skills.
  InvalidSkill: entry({
    message: "Invalid skill: {reason}.",
    hint: "Correct SKILL.md: it begins with front matter, which has `name`, the name of the folder, and `description`.",
    when: { hint: { hint: "{hint}" } },
  }),
  BrokenLink: entry({
    severity: "warning",
    message: 'The link leads to "{target:200}", which the skill does not have.',
    hint: "Add the file to the skill's folder, or correct the link.",
  }),

  // Their contents.
  InvalidServerDefinition: invalidDefinition("server"),
  InvalidToolDefinition: invalidDefinition("tool"),
  InvalidToolsetDefinition: invalidDefinition("toolset"),
  InvalidPromptDefinition: invalidDefinition("prompt"),
  InvalidResourceDefinition: invalidDefinition("resource"),
  DuplicateResourceUri: entry({
    message: 'The resource "{other}" has the same URI, "{uri:200}".',
    hint: "Change one of the two, or remove one of the resources.",
  }),
  InvalidReference: entry({
    message: 'Cannot resolve the reference "{reference}": {reason}',
    when: { hint: { hint: "{hint}" } },
  }),
  ReferenceCycle: entry({
    message: ({ cycle }: { cycle: readonly string[] }) =>
      `Toolsets include each other: ${cycle.join(" → ")}.`,
    hint: "Remove one of these references.",
  }),
  /** `exports` are the names that the module exports; `isProgram`: the program of a server, not a module with an export. */
  HandlerNotFound: entry({
    message: 'Handler "{handler}" not found: {reason}.',
    hint: 'Use "./module.js#export", relative to the package root. Without "#export", the default export is used.',
    when: {
      hint: { hint: "{hint}" },
      exports: { hint: "Use an export of the module: {exports:or}." },
      isProgram: { message: 'Program "{handler}" not found: {reason}.' },
    },
  }),
  HandlerUnchecked: entry({
    severity: "info",
    message: 'Cannot check whether "{handler}" exists: {reason}.',
  }),
  /** `name`, the environment variable, is absent for other values of clients, such as `${workspaceFolder}`. */
  UnexpandedVariable: entry({
    message: 'The server gets "{variable}" as written: Trailblaze does not expand variables in packs.',
    hint: "Write the value, or read it in the server.",
    when: {
      name: { hint: 'Remove it, add "{name}" to `envPassthrough`, and read the variable in the server.' },
    },
  }),
  NeedsExceeded: entry({
    message: '`envPassthrough` names "{name}", but `needs.env` in package.json does not list it.',
    hint: 'Add "{name}" to `needs.env`, or remove it from `envPassthrough`. Until then, the server does not start.',
  }),
  InvalidInputSchema: entry({
    message: '"{key}" is not a valid JSON Schema: {reason}.',
    hint: "Use JSON Schema 2020-12 (or draft-07 with $schema) of type object, without remote $ref.",
    when: {
      isDefault: {
        severity: "warning",
        message: '"{key}" has a default that its own schema rejects: {reason}.',
        hint: "Change the default or the schema. Calls get the default if the argument is absent.",
      },
    },
  }),
  UnsafePattern: entry({
    severity: "warning",
    message: 'The pattern "{pattern}" can take exponential time on some inputs.',
    hint: "Avoid nested repetition and alternatives that match the same input.",
  }),
  ReservedParameter: entry({
    message: 'The parameter "{name}" is reserved: the host adds it to every call.',
    hint: "Remove it from the schema. Handlers find the same data in their `context`.",
  }),
  InvalidAdvertisedName: entry({
    message:
      '"{name}" cannot be advertised: clients accept 1 to 64 characters from A-Z, a-z, 0-9, "_" and "-".',
    hint: 'Use a name such as "checkout_applyCoupon".',
  }),
  DuplicateAdvertisedName: entry({
    message: '"{other}" also advertises the name "{name}".',
    hint: "Change the `name` of one of them.",
  }),
  ToolNameConvention: entry({
    severity: "warning",
    message: 'The tool name "{name}" does not follow the naming convention.',
    hint: 'Use an app prefix, a verb and a noun, for example "checkout_applyCoupon" or "myapp_login_v2".',
  }),
  ReservedToolPrefix: entry({
    severity: "warning",
    message: '"{name}" starts with "{prefix}", a prefix reserved for built-ins.',
    hint: "Start the name with your app or product instead.",
  }),
  NameMismatch: entry({
    severity: "warning",
    message: 'The definition has the name "{name}", but the item is "{item}".',
    hint: 'Set "name" to "{item}".',
  }),
  MissingDescription: entry({
    severity: "warning",
    message: "{what} has no description. People and models need one to tell what it is for.",
    hint: "Add a `description` of one or two sentences.",
  }),
  UnknownDefinitionKey: entry({
    severity: "warning",
    message: 'Unknown key "{key}"; its value has no effect.',
    hint: 'Did you mean `{suggestion}`? Custom keys start with "x-".',
  }),
  UnknownMetaKey: entry({
    severity: "warning",
    message: 'Unknown `_meta` key "{key}".',
    hint: "Use one of {known:or}.",
    when: { suggestion: { hint: 'Did you mean "{suggestion}"?' } },
  }),
  InvalidMetaValue: entry({
    message: '"{key}" must be {expected}, but it is {found}. The key is ignored.',
  }),
  ControlCharacters: entry({
    message: "The string contains control characters: {codePoints:and}.",
    hint: "Remove them. Only line breaks and tabs are allowed.",
  }),
  HiddenText: entry({
    message:
      "The string contains invisible or bidirectional characters, which models read but people do not see: {codePoints:and}.",
    hint: "Remove them.",
  }),
  InvalidExpression: entry({
    message: 'The expression "{expression}" does not compile: {reason}.',
  }),
  UnknownBuiltIn: entry({
    severity: "warning",
    message: '"{reference}" is not declared by this pack, so it must be a built-in tool of the host.',
    hint: "If the host provides it, pass --built-ins {reference}. Otherwise, declare it or use its qualified name.",
    when: {
      nearest: { hint: "Did you mean {nearest:or}? If the host provides it, pass --built-ins {reference}." },
    },
  }),

  // The package around them.
  /** `packages` were installed with scripts disabled; `command` runs their scripts. */
  LifecycleScript: entryOf<{ script: string } | { packages: readonly string[]; command: string }>({
    severity: "warning",
    message: 'The "{script}" script runs on every machine that installs the pack.',
    hint: "Remove it: Trailblaze installs packs with scripts disabled, so the pack must work without it.",
    when: {
      packages: {
        severity: "info",
        message: "Install scripts were not run: {packages:and}.",
        hint: "If something does not work without them and you trust these packages, run `{command}`.",
      },
    },
  }),
  MissingKeyword: entry({
    severity: "warning",
    message: '"keywords" in package.json does not contain "{keyword}".',
    hint: 'Add "{keyword}" to "keywords".',
  }),
};
