import { DataSyntaxError } from "../data/parse-json.ts";
import { parseSource, type SourceText } from "../data/source-text.ts";
import { type FileRead, maximumFileBytes } from "../files/inspection-port.ts";
import { createProblem, type Problem, type ProblemContext, type ProblemPlace } from "../problems/index.ts";
import type { DefinitionFile } from "./locate-definitions.ts";

/** A value with its text, or a problem with the text if it could be decoded. */
export type DataRead =
  | { value: unknown; source: SourceText }
  | { problem: Problem; source: SourceText | undefined };

/** The problem for a file that could not be read. */
export function createReadProblem(
  read: Exclude<FileRead, { state: "read" }>,
  file: string,
  place: ProblemPlace,
  context: ProblemContext,
): Problem {
  switch (read.state) {
    case "absent": {
      // It is a link that leads nowhere, or was just deleted.
      const args = { name: place.item ?? file, own: file, combined: file };
      return createProblem("MissingDefinitionFile", args, place, context);
    }
    case "outside":
      return createProblem("DefinitionOutsidePackage", { what: file }, place, context);
    case "tooLarge": {
      const args = { bytes: read.bytes, limit: maximumFileBytes };
      return createProblem("DefinitionTooLarge", args, place, context);
    }
    case "unusable":
      return createProblem("InvalidDefinitionContents", { reason: read.reason }, place, context);
  }
}

/** Matches the export of a definition, the only part of a code definition that can be located without running it. */
const exported =
  /^[ \t]*(?:export\s+default\b|(?:module\.)?exports\s*(?:\.default\s*)?=|export\s*\{[^}]{0,500}\bas\s{1,9}default\b)/m;

/** The text of a code definition. All paths are located at its export. */
export function describeCode(bytes: Uint8Array): SourceText {
  const text = new TextDecoder().decode(bytes);
  return {
    text,
    async createLocator() {
      const found = exported.exec(text);
      if (found === null) return undefined;
      const { positionAt } = await import("../data/line-index.ts");
      const position = positionAt(text, found.index + found[0].search(/\S/));
      return () => position;
    },
  };
}

/** Parses a JSON or YAML file. Syntax errors become problems with a position. */
export async function readData(
  { format }: DefinitionFile,
  bytes: Uint8Array,
  place: ProblemPlace,
  context: ProblemContext,
): Promise<DataRead> {
  try {
    return await parseSource(format === "json" ? "json" : "yaml", bytes);
  } catch (error) {
    if (!(error instanceof DataSyntaxError)) throw error;
    const { describeSyntaxError } = await import("../data/json-positions.ts");
    const { reason, ...position } = describeSyntaxError(error);
    const { text } = error;
    return {
      problem: createProblem("InvalidDefinitionContents", { reason }, { ...place, ...position }, context),
      source: text === undefined ? undefined : { text, createLocator: async () => undefined },
    };
  }
}
