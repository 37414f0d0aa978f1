import { describeSyntaxError } from "../data/json-positions.ts";
import { maximumManifestBytes } from "../files/discovery-port.ts";
import { createProblem, type Problem } from "../problems/index.ts";
import type { ManifestFault } from "./manifest.ts";

/** Creates the problem for a fault; `pack` is the name that the package is installed as. */
export function describeFault(
  { location, fault }: ManifestFault,
  pack: string | undefined,
  isSource: boolean,
): Problem {
  const place = { pack, file: "package.json" };
  if ("tooLarge" in fault) {
    const args = { bytes: fault.tooLarge, limit: maximumManifestBytes, location };
    return createProblem("PackageJsonTooLarge", args, place);
  }
  const { reason, ...position } = describeSyntaxError(fault);
  const args = { reason, location, isSource };
  return createProblem("MalformedPackageJson", args, { ...place, ...position });
}
