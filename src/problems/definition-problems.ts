import type { Kind } from "../kinds.ts";
import { entry } from "./entry.ts";
import { hintForSyntax, type SyntaxCause } from "./syntax-hint.ts";
import { formatCount, listOf, printable, quote } from "./text.ts";

export interface InvalidDefinition {
  reason: string;
  hint?: string | undefined;
}

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

export interface HandlerNotFound {
  handler: string;
  /** Continues "not found:", without a period. */
  reason: string;
  /** Names that the module exports. */
  exports?: readonly string[];
  /** Replaces the default hint. */
  hint?: string | undefined;
  /** The program of a server, not a module with an export. */
  isProgram?: boolean;
}

export interface UnsupportedDefinitionFormat {
  file: string;
  cause: "unknownFormat" | "codeRefused" | "installedTypeScript" | "typesNotStripped";
}

const unsupported: Readonly<Record<UnsupportedDefinitionFormat["cause"], string>> = {
  unknownFormat: "unknown file format",
  codeRefused: "code definitions are disabled",
  installedTypeScript:
    "TypeScript is supported only in packs under development; installed packs must ship JavaScript",
  typesNotStripped: "this version of Node cannot run TypeScript",
};

const invalidDefinition = (kind: Kind) =>
  entry<InvalidDefinition>({
    title: `Invalid ${kind} definition`,
    severity: "error",
    message: ({ reason }) => `Invalid ${kind} definition: ${reason}.`,
    hint: ({ hint }) => hint,
  });

/** Problems in finding and reading definition files. */
const fileProblems = {
  MissingRootDirectory: entry<{ root: string }>({
    title: "Definition folder is missing",
    severity: "error",
    message: ({ root }) =>
      `The package declares items, but its definition folder ${quote(root)} does not exist.`,
    hint: ({ root }) => `Create the folder ${quote(root)}, or set "root" to another folder.`,
  }),
  MissingDefinitionFile: entry<MissingDefinition>({
    title: "Definition file is missing",
    severity: "error",
    message: ({ name, own, isDangling }) =>
      isDangling
        ? `${quote(own, 200)} is a broken symbolic link.`
        : `${quote(name)} is declared but has no definition file.`,
    hint({ name, own, combined, meant, isDangling }) {
      if (isDangling) return "Create its target inside the package, or replace the link with a file.";
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
  DuplicateDefinitionFiles: entry<{ used: string; others: readonly string[] }>({
    title: "Item has definition files in several formats",
    severity: "error",
    message: ({ used, others }) =>
      `${quote(used)} is used; ${listOf(
        others.map((one) => quote(one)),
        "and",
      )} ${others.length === 1 ? "defines the same item and is" : "define the same item and are"} ignored.`,
    hint: () => "Keep one of them and delete the rest.",
  }),
  UnsupportedDefinitionFormat: entry<UnsupportedDefinitionFormat>({
    title: "Unsupported definition format",
    severity: "error",
    message: ({ file, cause }) => `${quote(file)} cannot be read: ${unsupported[cause]}.`,
    hint: ({ cause }) =>
      cause === "typesNotStripped" || cause === "installedTypeScript"
        ? "Compile it to a .js or .mjs file next to it; that file is used instead."
        : cause === "codeRefused"
          ? "Write it as a .json, .yaml or .yml file, or allow definitions that are code."
          : "Write definitions as .json, .yaml or .yml files, or as .mjs, .js or .cjs modules.",
  }),
  InvalidDefinitionContents: entry<{
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
  DefinitionTooLarge: entry<{ bytes: number; limit: number }>({
    title: "Definition file is larger than 1 MiB",
    severity: "error",
    message: ({ bytes, limit }) =>
      `The file has ${formatCount(bytes)} bytes; the limit is ${formatCount(limit)}.`,
    hint: () => "Move data that is not part of the definition into a file that the handler reads.",
  }),
  DefinitionOutsidePackage: entry<{ what: string; hint?: string | undefined }>({
    title: "Path points outside the package",
    severity: "error",
    message: ({ what }) => `${quote(what)} is outside the package (symbolic links are followed).`,
    hint: ({ hint }) => hint ?? "Move it into the package: npm publishes only files inside it.",
  }),
  OrphanDefinitionFile: entry<{ name: string; key: string }>({
    title: "Definition of an undeclared item",
    severity: "warning",
    message: ({ name, key }) =>
      `${quote(name)} has a definition but is not declared in "${key}", so it is ignored.`,
    hint: ({ name, key }) => `Add ${quote(name)} to "${key}" in package.json, or delete the definition.`,
  }),
  ShadowedDefinition: entry<{ name: string; file: string; combined: string }>({
    title: "Item is defined twice; the second definition is ignored",
    severity: "warning",
    message: ({ name, file, combined }) =>
      `${quote(name)} is defined in ${quote(file)}, so its definition in ${quote(combined)} is ignored.`,
    hint: () => "Remove one of the two definitions.",
  }),
};

/** Problems in the content of definitions. */
const contentProblems = {
  InvalidServerDefinition: invalidDefinition("server"),
  InvalidToolDefinition: invalidDefinition("tool"),
  InvalidToolsetDefinition: invalidDefinition("toolset"),
  InvalidPromptDefinition: invalidDefinition("prompt"),
  InvalidResourceDefinition: invalidDefinition("resource"),
  DuplicateResourceUri: entry<{ uri: string; other: string }>({
    title: "Two resources have the same URI",
    severity: "error",
    message: ({ uri, other }) => `The resource ${quote(other)} has the same URI, ${quote(uri, 200)}.`,
    hint: () => "Change one of the two, or remove one of the resources.",
  }),
  InvalidReference: entry<{ reference: string; reason: string; hint?: string | undefined }>({
    title: "Reference cannot be resolved",
    severity: "error",
    message: ({ reference, reason }) => `Cannot resolve the reference ${quote(reference)}: ${reason}`,
    hint: ({ hint }) => hint,
  }),
  ReferenceCycle: entry<{ cycle: readonly string[] }>({
    title: "Toolsets include each other in a cycle",
    severity: "error",
    message: ({ cycle }) => `Toolsets include each other: ${cycle.join(" → ")}.`,
    hint: () => "Remove one of these references.",
  }),
  HandlerNotFound: entry<HandlerNotFound>({
    title: "Handler module or export not found",
    severity: "error",
    message: ({ handler, reason, isProgram }) =>
      `${isProgram ? "Program" : "Handler"} ${quote(handler)} not found: ${reason}.`,
    hint({ exports = [], hint, isProgram }) {
      if (hint !== undefined) return hint;
      if (exports.length > 0) return `Use an export of the module: ${listOf(exports)}.`;
      return isProgram
        ? "Add the file to the package. If a build creates it, run the build first."
        : 'Use "./module.js#export", relative to the package root. Without "#export", the default export is used.';
    },
  }),
  HandlerUnchecked: entry<{ handler: string; reason: string }>({
    title: "Handler or program cannot be checked without running it",
    severity: "info",
    message: ({ handler, reason }) => `Cannot check whether ${quote(handler)} exists: ${reason}.`,
  }),
  UnexpandedVariable: entry<{
    /** The variable as written, such as `${TOKEN}`. */
    variable: string;
    /** The environment variable; absent for other values of clients, such as `${workspaceFolder}`. */
    name: string | undefined;
  }>({
    title: "Variable in a server definition is not expanded",
    severity: "error",
    message: ({ variable }) =>
      `The server gets ${quote(variable)} as written: Trailblaze does not expand variables in packs.`,
    hint: ({ name }) =>
      name === undefined
        ? "Write the value, or read it in the server."
        : `Remove it, add ${quote(name)} to \`envPassthrough\`, and read the variable in the server.`,
  }),
  NeedsExceeded: entry<{
    /** The environment variable. */
    name: string;
  }>({
    title: "Server takes a variable that needs does not list",
    severity: "error",
    message: ({ name }) =>
      `\`envPassthrough\` names ${quote(name)}, but \`needs.env\` in package.json does not list it.`,
    hint: ({ name }) =>
      `Add ${quote(name)} to \`needs.env\`, or remove it from \`envPassthrough\`. Until then, the server does not start.`,
  }),
  InvalidInputSchema: entry<{
    key: string;
    reason: string;
    /** The schema is valid, but rejects one of its defaults. */
    isDefault?: boolean;
  }>({
    title: "Invalid JSON Schema",
    severity: (_context, { isDefault }) => (isDefault ? "warning" : "error"),
    message: ({ key, reason, isDefault }) =>
      isDefault
        ? `"${key}" has a default that its own schema rejects: ${reason}.`
        : `"${key}" is not a valid JSON Schema: ${reason}.`,
    hint: ({ isDefault }) =>
      isDefault
        ? "Change the default or the schema. Calls get the default if the argument is absent."
        : "Use JSON Schema 2020-12 (or draft-07 with $schema) of type object, without remote $ref.",
  }),
  UnsafePattern: entry<{ pattern: string }>({
    title: "Regular expression may backtrack catastrophically",
    severity: "warning",
    message: ({ pattern }) => `The pattern ${quote(pattern)} can take exponential time on some inputs.`,
    hint: () => "Avoid nested repetition and alternatives that match the same input.",
  }),
  ReservedParameter: entry<{ name: string }>({
    title: "Parameter has a reserved name",
    severity: "error",
    message: ({ name }) => `The parameter ${quote(name)} is reserved: the host adds it to every call.`,
    hint: () => "Remove it from the schema. Handlers find the same data in their `context`.",
  }),
  InvalidAdvertisedName: entry<{ name: string }>({
    title: "MCP clients would reject the name",
    severity: "error",
    message: ({ name }) =>
      `${quote(name)} cannot be advertised: clients accept 1 to 64 characters from A-Z, a-z, 0-9, "_" and "-".`,
    hint: ({ name }) => {
      const usable = name
        .replace(/[^A-Za-z0-9_-]+/g, "_")
        .replace(/^_+|_+$/g, "")
        .slice(0, 64);
      return usable === "" ? undefined : `Use a name such as "${usable}".`;
    },
  }),
  DuplicateAdvertisedName: entry<{ name: string; other: string }>({
    title: "Two items of the pack advertise the same name",
    severity: "error",
    message: ({ name, other }) => `${quote(other)} also advertises the name ${quote(name)}.`,
    hint: () => "Change the `name` of one of them.",
  }),
  ToolNameConvention: entry<{ name: string }>({
    title: "Tool name does not follow the naming convention",
    severity: "warning",
    message: ({ name }) => `The tool name ${quote(name)} does not follow the naming convention.`,
    hint: () =>
      'Use an app prefix, a verb and a noun, for example "checkout_applyCoupon" or "myapp_login_v2".',
  }),
  ReservedToolPrefix: entry<{ name: string; prefix: string }>({
    title: "Tool name has a reserved prefix",
    severity: "warning",
    message: ({ name, prefix }) => `${quote(name)} starts with "${prefix}", a prefix reserved for built-ins.`,
    hint: () => "Start the name with your app or product instead.",
  }),
  NameMismatch: entry<{ name: string; item: string }>({
    title: "Definition has a different name than its item",
    severity: "warning",
    message: ({ name, item }) =>
      `The definition has the name ${quote(name)}, but the item is ${quote(item)}.`,
    hint: ({ item }) => `Set "name" to "${item}".`,
  }),
  MissingDescription: entry<{ what: string }>({
    title: "Description is missing",
    severity: "warning",
    message: ({ what }) => `${what} has no description. People and models need one to tell what it is for.`,
    hint: () => "Add a `description` of one or two sentences.",
  }),
  UnknownDefinitionKey: entry<{ key: string; suggestion: string }>({
    title: "Definition key is probably misspelled",
    severity: "warning",
    message: ({ key }) => `Unknown key ${quote(key)}; its value has no effect.`,
    hint: ({ suggestion }) => `Did you mean \`${suggestion}\`? Custom keys start with "x-".`,
  }),
  UnknownMetaKey: entry<{ key: string; suggestion: string | undefined; known: readonly string[] }>({
    title: "Unknown trailblaze/ key in _meta",
    severity: "warning",
    message: ({ key }) => `Unknown \`_meta\` key ${quote(key)}.`,
    hint: ({ suggestion, known }) =>
      suggestion === undefined ? `Use one of ${listOf(known, "or")}.` : `Did you mean "${suggestion}"?`,
  }),
  InvalidMetaValue: entry<{ key: string; expected: string; found: string }>({
    title: "Value of a _meta key has the wrong type",
    severity: "error",
    message: ({ key, expected, found }) =>
      `"${key}" must be ${expected}, but it is ${found}. The key is ignored.`,
  }),
  ControlCharacters: entry<{ codePoints: readonly string[] }>({
    title: "String contains control characters",
    severity: "error",
    message: ({ codePoints }) => `The string contains control characters: ${listOf(codePoints, "and")}.`,
    hint: () => "Remove them. Only line breaks and tabs are allowed.",
  }),
  HiddenText: entry<{ codePoints: readonly string[] }>({
    title: "String contains invisible characters",
    severity: "error",
    message: ({ codePoints }) =>
      `The string contains invisible or bidirectional characters, which models read but people do not see: ${listOf(codePoints, "and")}.`,
    hint: () => "Remove them.",
  }),
  InvalidExpression: entry<{ expression: string; reason: string }>({
    title: "CEL expression does not compile",
    severity: "error",
    message: ({ expression, reason }) => `The expression ${quote(expression)} does not compile: ${reason}.`,
  }),
  UnknownBuiltIn: entry<{ reference: string; nearest: readonly string[]; advertises?: string | undefined }>({
    title: "Short name is not declared by the pack",
    severity: "warning",
    message: ({ reference, advertises }) =>
      advertises !== undefined
        ? `${quote(reference)} is the advertised name of ${quote(advertises, 200)}, but references use item names.`
        : `${quote(reference)} is not declared by this pack, so it must be a built-in tool of the host.`,
    hint: ({ reference, nearest, advertises }) =>
      advertises !== undefined
        ? `Replace it with ${quote(advertises, 200)}.`
        : nearest.length > 0
          ? `Did you mean ${listOf(nearest)}? If the host provides it, pass --built-ins ${printable(reference)}.`
          : `If the host provides it, pass --built-ins ${printable(reference)}. Otherwise, declare it or use its qualified name.`,
  }),
};

/** Problems of the package around the definitions. */
const packageProblems = {
  LifecycleScript: entry<
    | { script: string }
    /** Packages that were installed with scripts disabled, and the command that runs their scripts. */
    | { packages: readonly string[]; command: string }
  >({
    title: "Package has an install script",
    severity: (_context, args) => ("packages" in args ? "info" : "warning"),
    message: (args) =>
      "packages" in args
        ? `Install scripts were not run: ${listOf(args.packages.map(printable), "and")}.`
        : `The "${args.script}" script runs on every machine that installs the pack.`,
    hint: (args) =>
      "packages" in args
        ? `If something does not work without them and you trust these packages, run \`${printable(args.command)}\`.`
        : "Remove it: Trailblaze installs packs with scripts disabled, so the pack must work without it.",
  }),
  MissingKeyword: entry<{ keyword: string }>({
    title: "Pack cannot be found by searching the registry",
    severity: "warning",
    message: ({ keyword }) => `"keywords" in package.json does not contain "${keyword}".`,
    hint: ({ keyword }) => `Add "${keyword}" to "keywords".`,
  }),
};

export const definitionProblems = { ...fileProblems, ...contentProblems, ...packageProblems };
