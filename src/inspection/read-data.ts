import { DataSyntaxError } from "../data/decode.ts";
import { parseSource, type SourceText } from "../data/source-text.ts";
import type { FileRead } from "../files/inspection-port.ts";
import { maximumFileBytes } from "../files/inspection-port.ts";
import { createProblem, type Problem, type ProblemContext, type ProblemPlace } from "../problems/index.ts";
import type { DefinitionFile } from "./locate-definitions.ts";

/** A value and its text; or what is wrong, and the text if there is any. */
export type DataRead =
  | { value: unknown; source: SourceText }
  | { problem: Problem; source: SourceText | undefined };

/** The problem of a file that could not be read; `undefined` for one that was. */
export function describeFileFault(
  read: FileRead,
  file: string,
  place: ProblemPlace,
  context: ProblemContext,
): Problem | undefined {
  switch (read.state) {
    case "read":
      return undefined;
    case "absent":
      return createProblem(
        "MissingDefinitionFile",
        // Its folder was listed just before, so it is a link; or somebody is deleting it.
        { name: place.item ?? file, own: file, combined: file, isDangling: true },
        place,
        context,
      );
    case "outside":
      return createProblem("DefinitionOutsidePackage", { what: file }, place, context);
    case "tooLarge":
      return createProblem(
        "DefinitionTooLarge",
        { bytes: read.bytes, limit: maximumFileBytes },
        place,
        context,
      );
    case "unusable":
      return createProblem("InvalidDefinitionContents", { reason: read.reason }, place, context);
  }
}

/** Where a module exports its definition; what is in it can only be told by running it. */
const exported =
  /^[ \t]*(?:export\s+default\b|(?:module\.)?exports\s*(?:\.default\s*)?=|export\s*\{[^}]{0,500}\bas\s{1,9}default\b)/m;

/** The text of a definition that is code; every place in it is that of its export. */
export function describeCode(bytes: Uint8Array): SourceText {
  const text = new TextDecoder().decode(bytes);
  return {
    text,
    async createLocator() {
      const found = exported.exec(text);
      if (found === null) return undefined;
      const { positionAt } = await import("../data/decode.ts");
      const position = positionAt(text, found.index + found[0].search(/\S/));
      return () => position;
    },
  };
}

/** Reads a JSON or YAML file as data, with the position of what is wrong in it. */
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
    const { reason, cause, ...position } = describeSyntaxError(error);
    const { text } = error;
    return {
      problem: createProblem(
        "InvalidDefinitionContents",
        { reason, cause },
        { ...place, ...position },
        context,
      ),
      source: text === undefined ? undefined : { text, createLocator: async () => undefined },
    };
  }
}
