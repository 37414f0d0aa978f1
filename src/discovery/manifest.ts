import { DataSyntaxError } from "../data/decode.ts";
import { describeType, isRecord, parseJson } from "../data/parse-json.ts";
import { type DiscoveryPort, maximumManifestBytes } from "../files/discovery-port.ts";
import { createProblem, type Problem, type ProblemContext } from "../problems/index.ts";
import type { Manifest } from "./types.ts";

/** An unusable package.json, before its fault is located and described. */
export interface ManifestFault {
  location: string;
  fault: { tooLarge: number } | { reason: string } | DataSyntaxError;
}

/** Reads one package.json. Returns the manifest, its fault, or why there is neither. */
export function readManifest(
  port: DiscoveryPort,
  location: string,
  which: "always" | "ifRelevant",
): Manifest | ManifestFault | "absent" | "irrelevant" {
  const read = port.readManifest(location, which);
  switch (read.state) {
    case "absent":
    case "irrelevant":
      return read.state;
    case "tooLarge":
      return { location, fault: { tooLarge: read.bytes } };
    case "unusable":
      return { location, fault: { reason: read.reason } };
    case "read":
      return parseManifest(location, read.bytes);
  }
}

export function isFault(result: Manifest | ManifestFault | "absent" | "irrelevant"): result is ManifestFault {
  return typeof result === "object" && "fault" in result;
}

function parseManifest(location: string, bytes: Uint8Array): Manifest | ManifestFault {
  try {
    const { text, value } = parseJson(bytes);
    if (isRecord(value)) return { text, value };
    return { location, fault: { reason: `expected an object, found ${describeType(value)}` } };
  } catch (error) {
    if (error instanceof DataSyntaxError) return { location, fault: error };
    throw error;
  }
}

/** Creates the problem for a fault; `pack` is the name that the package is installed as. Loads the parser for positions. */
export async function describeFault(
  { location, fault }: ManifestFault,
  pack: string | undefined,
  { context, isSource }: { context: ProblemContext; isSource: boolean },
): Promise<Problem> {
  const place = { ...(pack === undefined ? {} : { pack }), file: "package.json" };
  if ("tooLarge" in fault) {
    const args = { bytes: fault.tooLarge, limit: maximumManifestBytes, location };
    return createProblem("PackageJsonTooLarge", args, place, context);
  }
  if (!(fault instanceof DataSyntaxError)) {
    return createProblem(
      "MalformedPackageJson",
      { ...fault, location, isSource },
      { ...place, line: 1, column: 1 },
      context,
    );
  }
  const { describeSyntaxError } = await import("../data/json-positions.ts");
  const { reason, cause, ...position } = describeSyntaxError(fault);
  return createProblem(
    "MalformedPackageJson",
    { reason, cause, location, isSource },
    { ...place, ...position },
    context,
  );
}
