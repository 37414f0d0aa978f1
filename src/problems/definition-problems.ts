import { entry } from "./entry.ts";
import { listOf } from "./text.ts";

/** Faults of definition files. */
export const definitionProblems = {
  MissingDefinitionFile: entry<{ name: string; looked: readonly string[] }>({
    title: "A declared item has no definition file",
    severity: "error",
    message: ({ name }) => `"${name}" is declared, but there is no definition file for it.`,
    hint: ({ looked }) => `Make one of ${listOf(looked)}, or remove the declaration.`,
  }),
  InvalidDefinitionContents: entry<{ reason: string }>({
    title: "A definition file cannot be read as data",
    severity: "error",
    message: ({ reason }) => `The definition cannot be used: ${reason}.`,
  }),
  DefinitionTooLarge: entry<{ bytes: number; limit: number }>({
    title: "A definition file is larger than 1 MiB",
    severity: "error",
    message: ({ bytes, limit }) => `The file has ${bytes} bytes, more than the ${limit} that are read.`,
  }),
  DefinitionOutsidePackage: entry<{ what: string }>({
    title: "A path leaves the package",
    severity: "error",
    message: ({ what }) => `${what} lies outside the package once symbolic links are followed.`,
    hint: () => "Only what npm packs with the package can be read. Move the file into it.",
  }),
  InvalidToolDefinition: entry<{ reason: string; hint?: string }>({
    title: "A tool's definition lacks what a tool needs",
    severity: "error",
    message: ({ reason }) => `The tool's definition is not valid: ${reason}.`,
    hint: ({ hint }) => hint,
  }),
};
