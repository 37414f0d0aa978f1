import type { Kind } from "../kinds.ts";
import { entry } from "./entry.ts";
import { hintForSyntax, type SyntaxCause } from "./syntax-hint.ts";
import { formatCount, listOf, quote } from "./text.ts";

export interface InvalidDefinition {
  reason: string;
  hint?: string | undefined;
}

export interface MissingDefinition {
  name: string;
  /** The files of its own that it can have, with braces around their endings. */
  own: string;
  /** The file of its kind, or those that there can be. */
  combined: string;
  /** What is probably meant as its definition: a file, or a key of one; and what to rename it to, or where to move it. */
  meant?: { file: string; key?: string } & ({ renameTo: string } | { moveTo: string });
  /** The file is a symbolic link, and what it leads to is missing. */
  isDangling?: boolean;
}

export interface HandlerNotFound {
  handler: string;
  /** Goes on from "cannot be found:", without a full stop. */
  reason: string;
  /** What the module exports. */
  exports?: readonly string[];
  /** In place of the usual one. */
  hint?: string | undefined;
  /** It is what a server runs, not a module with an export. */
  isProgram?: boolean;
}

export interface UnsupportedDefinitionFormat {
  file: string;
  cause: "unknownFormat" | "codeRefused" | "installedTypeScript" | "typesNotStripped";
}

const unsupported: Readonly<Record<UnsupportedDefinitionFormat["cause"], string>> = {
  unknownFormat: "its format is not known",
  codeRefused: "definitions that are code are refused",
  installedTypeScript:
    "TypeScript is read only in packs under development; an installed pack ships JavaScript",
  typesNotStripped: "this version of Node does not strip types",
};

const invalidDefinition = (kind: Kind) =>
  entry<InvalidDefinition>({
    title: `A ${kind}'s definition lacks what a ${kind} needs`,
    severity: "error",
    message: ({ reason }) => `The ${kind}'s definition is not valid: ${reason}.`,
    hint: ({ hint }) => hint,
  });

const folderOf = (file: string) => file.slice(0, Math.max(0, file.lastIndexOf("/")));

/** Faults in where definition files are, and in reading them. */
const fileProblems = {
  MissingRootDirectory: entry<{ root: string }>({
    title: "The folder of definition files is missing",
    severity: "error",
    message: ({ root }) => `Items are declared, but there is no folder ${quote(root)} in the package.`,
    hint: ({ root }) => `Make the folder ${quote(root)}, or name another one with "root".`,
  }),
  MissingDefinitionFile: entry<MissingDefinition>({
    title: "A declared item has no definition file",
    severity: "error",
    message: ({ name, own, isDangling }) =>
      isDangling
        ? `${quote(own, 200)} is a symbolic link that leads nowhere.`
        : `${quote(name)} is declared, but there is no definition file for it.`,
    hint({ name, own, combined, meant, isDangling }) {
      if (isDangling) return "Make what it leads to, inside the package, or put a file in its place.";
      if (meant === undefined)
        return `Make ${quote(own, 200)}, or the key ${quote(name)} in ${quote(combined, 200)}; or remove the declaration.`;
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
    title: "An item has definition files in several formats",
    severity: "error",
    message: ({ used, others }) =>
      `${quote(used)} counts, but ${listOf(
        others.map((one) => quote(one)),
        "and",
      )} ${others.length === 1 ? "defines" : "define"} the same.`,
    hint: ({ others }) =>
      `Delete ${listOf(
        others.map((one) => quote(one)),
        "and",
      )}, or the other one.`,
  }),
  UnsupportedDefinitionFormat: entry<UnsupportedDefinitionFormat>({
    title: "A definition file's format cannot be read here",
    severity: "error",
    message: ({ file, cause }) => `${quote(file)} cannot be read: ${unsupported[cause]}.`,
    hint: ({ cause }) =>
      cause === "typesNotStripped" || cause === "installedTypeScript"
        ? "Build it into a .js or .mjs file beside it, which is then read in its place."
        : "Definitions are .json, .yaml or .yml files, or .mjs, .js or .cjs modules.",
  }),
  InvalidDefinitionContents: entry<{
    reason: string;
    cause?: SyntaxCause | undefined;
    /** The package that a module imports and that is not there. */
    missingPackage?: string | undefined;
  }>({
    title: "A definition file cannot be read as data",
    severity: "error",
    message: ({ reason }) => `The definition cannot be used: ${reason}.`,
    hint: ({ cause, missingPackage }) =>
      missingPackage === undefined
        ? hintForSyntax(cause)
        : `Declare "${missingPackage}" among the "dependencies" in the pack's package.json.`,
  }),
  DefinitionTooLarge: entry<{ bytes: number; limit: number }>({
    title: "A definition file is larger than 1 MiB",
    severity: "error",
    message: ({ bytes, limit }) => `The file has ${bytes} bytes, more than the ${limit} that are read.`,
    hint: () => "Move what is not the definition itself into another file that the handler reads.",
  }),
  DefinitionOutsidePackage: entry<{ what: string; hint?: string | undefined }>({
    title: "A path leaves the package",
    severity: "error",
    message: ({ what }) => `${quote(what)} lies outside the package once symbolic links are followed.`,
    hint: ({ hint }) => hint ?? "Only what npm packs with the package can be read. Move it into the package.",
  }),
  OrphanDefinitionFile: entry<{ name: string; key: string }>({
    title: "A definition belongs to no declared item",
    severity: "warning",
    message: ({ name, key }) =>
      `There is a definition of ${quote(name)}, but "${key}" does not declare it, so nobody sees it.`,
    hint: ({ name, key }) => `Add ${quote(name)} to "${key}" in package.json, or delete the definition.`,
  }),
  ShadowedDefinition: entry<{ name: string; file: string; combined: string }>({
    title: "An item is defined twice, the second time in vain",
    severity: "warning",
    message: ({ name, file, combined }) =>
      `${quote(name)} is defined in ${quote(file)}, so what ${quote(combined)} says of it is ignored.`,
    hint: () => "Remove one of the two.",
  }),
  FileNotPublished: entry<{
    file: string;
    importer?: string | undefined;
    /** How many more files of the same folder are left out, which are not reported one by one. */
    others?: number;
  }>({
    title: "A file that is needed would not be published",
    severity: "error",
    message({ file, importer, others = 0 }) {
      const more = others === 0 ? "" : ` and ${others} more needed file${others === 1 ? "" : "s"} beside it`;
      const left = `npm would leave ${quote(file)}${more} out of the published package`;
      return importer === undefined ? `${left}.` : `${left}, though ${quote(importer)} imports it.`;
    },
    hint: ({ file, others = 0 }) =>
      `Add ${others === 0 ? "it" : `${quote(folderOf(file))}`} to "files" in package.json, or remove the rule in .npmignore or .gitignore that excludes ${quote(file)}.`,
  }),
};

/** Faults in what definitions say. */
const contentProblems = {
  InvalidServerDefinition: invalidDefinition("server"),
  InvalidToolDefinition: invalidDefinition("tool"),
  InvalidToolsetDefinition: invalidDefinition("toolset"),
  InvalidPromptDefinition: invalidDefinition("prompt"),
  InvalidReference: entry<{ reference: string; reason: string; hint?: string | undefined }>({
    title: "A reference leads nowhere",
    severity: "error",
    message: ({ reference, reason }) => `The reference ${quote(reference)} leads nowhere: ${reason}`,
    hint: ({ hint }) => hint,
  }),
  ReferenceCycle: entry<{ cycle: readonly string[] }>({
    title: "Toolsets contain each other in a circle",
    severity: "error",
    message: ({ cycle }) => `The toolsets contain each other: ${cycle.join(" → ")}.`,
    hint: () => "Take one of them out of the other.",
  }),
  HandlerNotFound: entry<HandlerNotFound>({
    title: "A handler's module or export does not exist",
    severity: "error",
    message: ({ handler, reason, isProgram }) =>
      `The ${isProgram ? "program" : "handler"} ${quote(handler)} cannot be found: ${reason}.`,
    hint({ exports = [], hint, isProgram }) {
      if (hint !== undefined) return hint;
      if (exports.length > 0) return `The module exports ${listOf(exports, "and")}.`;
      return isProgram
        ? "Programs of a pack are files of its package; its build may have to make them first."
        : 'Write "./module.js#export", relative to the package; without "#export" it is the default export.';
    },
  }),
  HandlerUnchecked: entry<{ handler: string; reason: string }>({
    title: "Whether a handler exists cannot be told without running it",
    severity: "info",
    message: ({ handler, reason }) => `Whether ${quote(handler)} exists was not checked: ${reason}.`,
  }),
  InvalidInputSchema: entry<{ key: string; reason: string }>({
    title: "A JSON Schema is not valid",
    severity: "error",
    message: ({ key, reason }) => `"${key}" is not a usable JSON Schema: ${reason}.`,
    hint: () =>
      "Schemas are JSON Schema 2020-12 (or draft-07 where $schema says so) of type object, without remote $ref.",
  }),
  UnsafePattern: entry<{ pattern: string }>({
    title: "A regular expression can take for ever",
    severity: "warning",
    message: ({ pattern }) => `The pattern ${quote(pattern)} can take exponential time on some texts.`,
    hint: () => "Avoid a repetition inside a repetition, and alternatives that match the same text.",
  }),
  ReservedParameter: entry<{ name: string }>({
    title: "A parameter has a reserved name",
    severity: "error",
    message: ({ name }) =>
      `The parameter ${quote(name)} is reserved: the host itself puts it into every call.`,
    hint: () => "Remove it from the schema; a handler gets it all the same.",
  }),
  InvalidAdvertisedName: entry<{ name: string; byServer?: boolean }>({
    title: "MCP clients would refuse the name",
    severity: "error",
    message: ({ name, byServer = false }) =>
      byServer
        ? `${quote(name)} cannot be a tool's name: MCP takes 1 to 128 of A-Z, a-z, 0-9, "_", "." and "-".`
        : `${quote(name)} cannot be advertised: clients take 1 to 64 of A-Z, a-z, 0-9, "_" and "-".`,
    hint: ({ name, byServer = false }) => {
      const usable = name
        .replace(byServer ? /[^A-Za-z0-9_.-]+/g : /[^A-Za-z0-9_-]+/g, "_")
        .replace(/^_+|_+$/g, "")
        .slice(0, byServer ? 128 : 64);
      return usable === "" ? undefined : `For example "${usable}".`;
    },
  }),
  DuplicateAdvertisedName: entry<{ name: string; other: string }>({
    title: "Two items of the pack advertise the same name",
    severity: "error",
    message: ({ name, other }) => `${quote(name)} is advertised by ${quote(other)} as well.`,
    hint: () => "Give one of them another `name`.",
  }),
  ToolNameConvention: entry<{ name: string }>({
    title: "A tool's name does not follow the convention",
    severity: "warning",
    message: ({ name }) => `The name ${quote(name)} does not follow the convention.`,
    hint: () => 'Write a verb and a noun, with the app before it: "checkout_applyCoupon", "myapp_login_v2".',
  }),
  ReservedToolPrefix: entry<{ name: string; prefix: string }>({
    title: "A tool's name begins with a reserved prefix",
    severity: "warning",
    message: ({ name, prefix }) =>
      `${quote(name)} begins with "${prefix}", which is reserved for tools of the host.`,
    hint: () => "Begin with the name of your app or product instead.",
  }),
  NameMismatch: entry<{ name: string; item: string }>({
    title: "A definition's name is not that of its item",
    severity: "warning",
    message: ({ name, item }) =>
      `The definition calls itself ${quote(name)}, but the item is ${quote(item)}.`,
    hint: ({ item }) => `Write "name": "${item}".`,
  }),
  MissingDescription: entry<{ what: string }>({
    title: "A description is missing",
    severity: "warning",
    message: ({ what }) =>
      `${what} has no description, so neither people nor models can tell what it is for.`,
    hint: () => "Add a `description` of one or two sentences.",
  }),
  LongText: entry<{ characters: number; limit: number }>({
    title: "A description is longer than 4,096 characters",
    severity: "warning",
    message: ({ characters, limit }) =>
      `The description has ${formatCount(characters)} characters, more than the recommended ${formatCount(limit)}.`,
    hint: () => "Shorten it: a model reads all of it each time it is offered the tool.",
  }),
  UnknownDefinitionKey: entry<{ key: string; suggestion: string }>({
    title: "A definition has a key that is probably misspelt",
    severity: "warning",
    message: ({ key }) => `The key ${quote(key)} means nothing here, so what it says has no effect.`,
    hint: ({ suggestion }) => `Did you mean \`${suggestion}\`? A key of your own begins with "x-".`,
  }),
  UnknownMetaKey: entry<{ key: string; suggestion: string | undefined; known: readonly string[] }>({
    title: "A trailblaze/ key of _meta means nothing",
    severity: "warning",
    message: ({ key }) => `The key ${quote(key)} is unknown.`,
    hint: ({ suggestion, known }) =>
      suggestion === undefined ? `Known keys: ${listOf(known, "and")}.` : `Did you mean "${suggestion}"?`,
  }),
  InvalidMetaValue: entry<{ key: string; expected: string; found: string }>({
    title: "A trailblaze/ key of _meta has the wrong type",
    severity: "error",
    message: ({ key, expected, found }) =>
      `"${key}" must be ${expected}, but is ${found}; it counts as absent.`,
  }),
  ControlCharacters: entry<{ codePoints: readonly string[] }>({
    title: "A text holds control characters",
    severity: "error",
    message: ({ codePoints }) => `The text holds control characters: ${listOf(codePoints, "and")}.`,
    hint: () => "Only line breaks and tabs are allowed; remove the others.",
  }),
  HiddenText: entry<{ codePoints: readonly string[] }>({
    title: "A text holds characters that people do not see",
    severity: "error",
    message: ({ codePoints }) =>
      `The text holds invisible or bidirectional characters, which a model reads and a person does not: ${listOf(codePoints, "and")}.`,
    hint: () => "Remove them.",
  }),
  InvalidExpression: entry<{ expression: string; reason: string }>({
    title: "A CEL expression does not compile",
    severity: "error",
    message: ({ expression, reason }) => `The expression ${quote(expression)} does not compile: ${reason}.`,
  }),
  UnknownBuiltIn: entry<{ reference: string; nearest: readonly string[]; advertises?: string | undefined }>({
    title: "A short name is none of the pack's own",
    severity: "warning",
    message: ({ reference, advertises }) =>
      advertises !== undefined
        ? `${quote(reference)} is the name by which models know ${quote(advertises, 200)}; references name items.`
        : `${quote(reference)} is no item of this pack, so it would have to be a tool of the host.`,
    hint: ({ nearest, advertises }) =>
      advertises !== undefined
        ? `Write ${quote(advertises, 200)}.`
        : nearest.length > 0
          ? `Did you mean ${listOf(nearest)}? If the host brings it: --built-ins NAME`
          : "If the host brings it, say so with --built-ins NAME; otherwise declare it or write its qualified name.",
  }),
  LegacyContextRejected: entry<{ tool: string }>({
    title: "Tool gets no context in its arguments",
    severity: "info",
    message: ({ tool }) =>
      `The input schema of ${quote(tool)} forbids additional arguments, so calls leave out _trailblazeContext.`,
    hint: () => "Read `_meta.trailblaze`, which every call carries, or allow additional properties.",
  }),
};

/** Faults of the package around the definitions. */
const packageProblems = {
  LifecycleScript: entry<{ script: string }>({
    title: "The package runs a script when it is installed",
    severity: "warning",
    message: ({ script }) => `The script "${script}" would run on every machine that installs the pack.`,
    hint: () => "Trailblaze installs packs with scripts off, so the pack must work without it. Remove it.",
  }),
  MissingKeyword: entry<{ keyword: string }>({
    title: "Searching the registry would not find the pack",
    severity: "warning",
    message: ({ keyword }) => `"keywords" in package.json does not hold "${keyword}".`,
    hint: ({ keyword }) => `Add "${keyword}" to "keywords".`,
  }),
};

export const definitionProblems = { ...fileProblems, ...contentProblems, ...packageProblems };
