import type { Kind } from "../kinds.ts";
import { entry, entryOf } from "./entry.ts";
import { hintForSyntax, type SyntaxCause } from "./syntax-hint.ts";
import { listOf, quote } from "./text.ts";

export interface MissingDefinition {
  name: string;
  /** The possible files of this item alone, with their extensions in braces. */
  own: string;
  /** The file for all items of its kind, or the possible ones. */
  combined: string;
  /** The file, or the key in a file, that was probably meant, and what to rename it to or where to move it. */
  meant?: { file: string; key?: string } & ({ renameTo: string } | { moveTo: string });
  /** The file is a symbolic link whose target is missing. */
  isDangling?: boolean;
}

const invalidDefinition = (kind: Kind) =>
  entryOf<{ reason: string; hint?: string | undefined }>({
    title: `Invalid ${kind} definition`,
    severity: "error",
    message: `Invalid ${kind} definition: {reason}.`,
    when: { hint: { hint: "{hint}" } },
  });

/** Problems in finding and reading definition files. */
const fileProblems = {
  MissingRootDirectory: entry({
    title: "Definition folder is missing",
    severity: "error",
    message: 'The package declares items, but its definition folder "{root}" does not exist.',
    hint: 'Create the folder "{root}", or set "root" to another folder.',
  }),
  MissingDefinitionFile: entryOf<MissingDefinition>({
    title: "Definition file is missing",
    severity: "error",
    message: '"{name}" is declared but has no definition file.',
    when: {
      isDangling: {
        message: '"{own:200}" is a broken symbolic link.',
        hint: "Create its target inside the package, or replace the link with a file.",
      },
    },
    hint({ name, own, combined, meant }) {
      if (meant === undefined)
        return `Create ${quote(own, 200)}, add the key ${quote(name)} to ${quote(combined, 200)}, or remove the declaration.`;
      const { file, key } = meant;
      const found = key === undefined ? quote(file, 200) : `the key ${quote(key)} in ${quote(file, 200)}`;
      const then =
        "renameTo" in meant
          ? `Rename it to ${quote(meant.renameTo)}`
          : `Move it to ${quote(meant.moveTo, 200)}`;
      return `Did you mean ${found}? ${then}.`;
    },
  }),
  DuplicateDefinitionFiles: entryOf<{ used: string; others: readonly string[] }>({
    title: "Item has definition files in several formats",
    severity: "error",
    message: ({ used, others }) =>
      `${quote(used)} is used; ${listOf(
        others.map((one) => quote(one)),
        "and",
      )} ${others.length === 1 ? "defines the same item and is" : "define the same item and are"} ignored.`,
    hint: "Keep one of them and delete the rest.",
  }),
  UnsupportedDefinitionFormat: entry({
    title: "Unsupported definition format",
    severity: "error",
    message: '"{file}" cannot be read: unknown file format.',
    hint: "Write definitions as .json, .yaml or .yml files, or as .mjs, .js or .cjs modules.",
    causes: {
      unknownFormat: {},
      codeRefused: {
        message: '"{file}" cannot be read: code definitions are disabled.',
        hint: "Write it as a .json, .yaml or .yml file, or allow definitions that are code.",
      },
      installedTypeScript: {
        message:
          '"{file}" cannot be read: TypeScript is supported only in packs under development; installed packs must ship JavaScript.',
        hint: "Compile it to a .js or .mjs file next to it; that file is used instead.",
      },
      typesNotStripped: {
        message: '"{file}" cannot be read: this version of Node cannot run TypeScript.',
        hint: "Compile it to a .js or .mjs file next to it; that file is used instead.",
      },
    },
  }),
  InvalidDefinitionContents: entryOf<{
    reason: string;
    cause?: SyntaxCause | undefined;
    /** The package that a module imports and that is not installed. */
    missingPackage?: string | undefined;
  }>({
    title: "Definition file cannot be read",
    severity: "error",
    message: ({ reason }) => `Cannot read the definition: ${reason}.`,
    hint: ({ cause, missingPackage }) =>
      missingPackage === undefined
        ? hintForSyntax(cause)
        : `Add "${missingPackage}" to "dependencies" in the pack's package.json.`,
  }),
  DefinitionTooLarge: entry({
    title: "Definition file is larger than 1 MiB",
    severity: "error",
    message: "The file has {bytes:count} bytes; the limit is {limit:count}.",
    hint: "Move data that is not part of the definition into a file that the handler reads.",
  }),
  DefinitionOutsidePackage: entry({
    title: "Path points outside the package",
    severity: "error",
    message: '"{what}" is outside the package (symbolic links are followed).',
    hint: "Move it into the package: npm publishes only files inside it.",
    when: { hint: { hint: "{hint}" } },
  }),
  OrphanDefinitionFile: entry({
    title: "Definition of an undeclared item",
    severity: "warning",
    message: '"{name}" has a definition but is not declared in "{key}", so it is ignored.',
    hint: 'Add "{name}" to "{key}" in package.json, or delete the definition.',
  }),
  ShadowedDefinition: entry({
    title: "Item is defined twice; the second definition is ignored",
    severity: "warning",
    message: '"{name}" is defined in "{file}", so its definition in "{combined}" is ignored.',
    hint: "Remove one of the two definitions.",
  }),
};

/** Problems in the content of definitions. */
const contentProblems = {
  InvalidServerDefinition: invalidDefinition("server"),
  InvalidToolDefinition: invalidDefinition("tool"),
  InvalidToolsetDefinition: invalidDefinition("toolset"),
  InvalidPromptDefinition: invalidDefinition("prompt"),
  InvalidResourceDefinition: invalidDefinition("resource"),
  DuplicateResourceUri: entry({
    title: "Two resources have the same URI",
    severity: "error",
    message: 'The resource "{other}" has the same URI, "{uri:200}".',
    hint: "Change one of the two, or remove one of the resources.",
  }),
  InvalidReference: entry({
    title: "Reference cannot be resolved",
    severity: "error",
    message: 'Cannot resolve the reference "{reference}": {reason}',
    when: { hint: { hint: "{hint}" } },
  }),
  ReferenceCycle: entryOf<{ cycle: readonly string[] }>({
    title: "Toolsets include each other in a cycle",
    severity: "error",
    message: ({ cycle }) => `Toolsets include each other: ${cycle.join(" → ")}.`,
    hint: "Remove one of these references.",
  }),
  /** `exports` are the names that the module exports; `isProgram`: the program of a server, not a module with an export. */
  HandlerNotFound: entry({
    title: "Handler module or export not found",
    severity: "error",
    message: 'Handler "{handler}" not found: {reason}.',
    hint: 'Use "./module.js#export", relative to the package root. Without "#export", the default export is used.',
    when: {
      hint: { hint: "{hint}" },
      exports: { hint: "Use an export of the module: {exports:or}." },
      isProgram: {
        message: 'Program "{handler}" not found: {reason}.',
        hint: "Add the file to the package. If a build creates it, run the build first.",
      },
    },
  }),
  HandlerUnchecked: entry({
    title: "Handler or program cannot be checked without running it",
    severity: "info",
    message: 'Cannot check whether "{handler}" exists: {reason}.',
  }),
  /** `name`, the environment variable, is absent for other values of clients, such as `${workspaceFolder}`. */
  UnexpandedVariable: entry({
    title: "Variable in a server definition is not expanded",
    severity: "error",
    message: 'The server gets "{variable}" as written: Trailblaze does not expand variables in packs.',
    hint: "Write the value, or read it in the server.",
    when: {
      name: { hint: 'Remove it, add "{name}" to `envPassthrough`, and read the variable in the server.' },
    },
  }),
  NeedsExceeded: entry({
    title: "Server takes a variable that needs does not list",
    severity: "error",
    message: '`envPassthrough` names "{name}", but `needs.env` in package.json does not list it.',
    hint: 'Add "{name}" to `needs.env`, or remove it from `envPassthrough`. Until then, the server does not start.',
  }),
  InvalidInputSchema: entry({
    title: "Invalid JSON Schema",
    severity: "error",
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
    title: "Regular expression may backtrack catastrophically",
    severity: "warning",
    message: 'The pattern "{pattern}" can take exponential time on some inputs.',
    hint: "Avoid nested repetition and alternatives that match the same input.",
  }),
  ReservedParameter: entry({
    title: "Parameter has a reserved name",
    severity: "error",
    message: 'The parameter "{name}" is reserved: the host adds it to every call.',
    hint: "Remove it from the schema. Handlers find the same data in their `context`.",
  }),
  InvalidAdvertisedName: entry({
    title: "MCP clients would reject the name",
    severity: "error",
    message:
      '"{name}" cannot be advertised: clients accept 1 to 64 characters from A-Z, a-z, 0-9, "_" and "-".',
    hint: ({ name }: { name: string }) => {
      const usable = name
        .replace(/[^A-Za-z0-9_-]+/g, "_")
        .replace(/^_+|_+$/g, "")
        .slice(0, 64);
      return usable === "" ? undefined : `Use a name such as "${usable}".`;
    },
  }),
  DuplicateAdvertisedName: entry({
    title: "Two items of the pack advertise the same name",
    severity: "error",
    message: '"{other}" also advertises the name "{name}".',
    hint: "Change the `name` of one of them.",
  }),
  ToolNameConvention: entry({
    title: "Tool name does not follow the naming convention",
    severity: "warning",
    message: 'The tool name "{name}" does not follow the naming convention.',
    hint: 'Use an app prefix, a verb and a noun, for example "checkout_applyCoupon" or "myapp_login_v2".',
  }),
  ReservedToolPrefix: entry({
    title: "Tool name has a reserved prefix",
    severity: "warning",
    message: '"{name}" starts with "{prefix}", a prefix reserved for built-ins.',
    hint: "Start the name with your app or product instead.",
  }),
  NameMismatch: entry({
    title: "Definition has a different name than its item",
    severity: "warning",
    message: 'The definition has the name "{name}", but the item is "{item}".',
    hint: 'Set "name" to "{item}".',
  }),
  MissingDescription: entry({
    title: "Description is missing",
    severity: "warning",
    message: "{what} has no description. People and models need one to tell what it is for.",
    hint: "Add a `description` of one or two sentences.",
  }),
  UnknownDefinitionKey: entry({
    title: "Definition key is probably misspelled",
    severity: "warning",
    message: 'Unknown key "{key}"; its value has no effect.',
    hint: 'Did you mean `{suggestion}`? Custom keys start with "x-".',
  }),
  UnknownMetaKey: entry({
    title: "Unknown trailblaze/ key in _meta",
    severity: "warning",
    message: 'Unknown `_meta` key "{key}".',
    hint: "Use one of {known:or}.",
    when: { suggestion: { hint: 'Did you mean "{suggestion}"?' } },
  }),
  InvalidMetaValue: entry({
    title: "Value of a _meta key has the wrong type",
    severity: "error",
    message: '"{key}" must be {expected}, but it is {found}. The key is ignored.',
  }),
  ControlCharacters: entry({
    title: "String contains control characters",
    severity: "error",
    message: "The string contains control characters: {codePoints:and}.",
    hint: "Remove them. Only line breaks and tabs are allowed.",
  }),
  HiddenText: entry({
    title: "String contains invisible characters",
    severity: "error",
    message:
      "The string contains invisible or bidirectional characters, which models read but people do not see: {codePoints:and}.",
    hint: "Remove them.",
  }),
  InvalidExpression: entry({
    title: "CEL expression does not compile",
    severity: "error",
    message: 'The expression "{expression}" does not compile: {reason}.',
  }),
  UnknownBuiltIn: entry({
    title: "Short name is not declared by the pack",
    severity: "warning",
    message: '"{reference}" is not declared by this pack, so it must be a built-in tool of the host.',
    hint: "If the host provides it, pass --built-ins {reference}. Otherwise, declare it or use its qualified name.",
    when: {
      advertises: {
        message: '"{reference}" is the advertised name of "{advertises:200}", but references use item names.',
        hint: 'Replace it with "{advertises:200}".',
      },
      nearest: { hint: "Did you mean {nearest:or}? If the host provides it, pass --built-ins {reference}." },
    },
  }),
};

/** Problems of the package around the definitions. */
const packageProblems = {
  /** `packages` were installed with scripts disabled; `command` runs their scripts. */
  LifecycleScript: entryOf<{ script: string } | { packages: readonly string[]; command: string }>({
    title: "Package has an install script",
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
    title: "Pack cannot be found by searching the registry",
    severity: "warning",
    message: '"keywords" in package.json does not contain "{keyword}".',
    hint: 'Add "{keyword}" to "keywords".',
  }),
};

export const definitionProblems = { ...fileProblems, ...contentProblems, ...packageProblems };
