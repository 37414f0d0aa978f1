import { join } from "node:path";
import { describeFault, describePack } from "../discovery/describe-pack.ts";
import { isFault } from "../discovery/manifest.ts";
import { type DiscoveredPack, isPack } from "../discovery/types.ts";
import { inspectionPort as port } from "../files/node-inspection-port.ts";
import type { InspectionOptions } from "../inspection/inspect.ts";
import { loadDefinitions } from "../inspection/load-definitions.ts";
import { byKind, type KindKey } from "../kinds.ts";
import { createProblem, type Problem } from "../problems/index.ts";
import * as definitions from "./checks/definitions.ts";
import * as modules from "./checks/modules.ts";
import * as manifest from "./checks/package.ts";
import * as prompts from "./checks/prompts-resources.ts";
import * as references from "./checks/references.ts";
import * as schemas from "./checks/schemas.ts";
import * as servers from "./checks/servers.ts";
import * as texts from "./checks/texts.ts";
import * as tools from "./checks/tools.ts";
import { findTarget } from "./find-target.ts";
import { type Check, runChecks } from "./finding.ts";
import { PackUnderTest } from "./pack-under-test.ts";

/** Every check, in the order in which problems are reported. */
const checks: readonly Check[] = [
  manifest.checkNameAndVersion,
  manifest.checkDependencies,
  manifest.checkPackageManifest,
  manifest.checkRepeatedKeys,
  definitions.checkOrphanDefinitions,
  definitions.checkShadowedDefinitions,
  definitions.checkDefinitionKeys,
  definitions.checkItemNames,
  texts.checkDescriptions,
  texts.checkTexts,
  texts.checkSkills,
  tools.checkAdvertisedNames,
  tools.checkRepeatedNames,
  tools.checkToolNames,
  tools.checkToolMeta,
  schemas.checkSchemas,
  schemas.checkDefaults,
  schemas.checkPatterns,
  schemas.checkReservedParameters,
  prompts.checkPromptArguments,
  prompts.checkResourceUris,
  references.checkReferences,
  references.checkBundles,
  references.checkToolsetCycles,
  prompts.checkExpressions,
  modules.checkModules,
  modules.checkOutsideImports,
  modules.checkHandlers,
  prompts.checkResourceFiles,
  servers.checkServerPrograms,
  servers.checkServerCommands,
  servers.checkVariables,
  servers.checkNeededVariables,
  servers.checkServerPackages,
  manifest.checkPublishedFiles,
  modules.checkImports,
  modules.checkTypeScript,
];

/** The problems of a pack, and its items. */
export type ValidationReport = {
  /** True if there are no errors, and with `strict` no warnings. */
  ok: boolean;
  /** The npm name; `null` if package.json has none. */
  pack: string | null;
  version: string | null;
} & Record<KindKey, string[]> & { problems: Problem[] };

export interface DetailedReport {
  report: ValidationReport;
  /** Absolute path of the package. */
  location: string;
  /** Files with definitions and package.json, relative to the package. */
  sources: ReadonlySet<string>;
}

/** The options of an inspection, and what counts as a failure. */
export interface ValidationOptions extends InspectionOptions {
  /** Treat warnings as errors. */
  strict?: boolean;
}

/** Whether no finding of a check explains a problem of inspection better. */
function isUnexplained({ code, file, args }: Problem, found: readonly Problem[]): boolean {
  if (code === "MalformedPackageJson")
    return !found.some((one) => one.code === "InvalidPackageManifest" && one.args.key === "name");
  // The finding for all versions of Node replaces the one for this version.
  const isOfVersion = code === "UnsupportedDefinitionFormat" && args.cause === "typesNotStripped";
  const isOfAll = (one: Problem) => one.code === "TypeScriptNotPublishable" && one.file === file;
  return !(isOfVersion && found.some((one) => isOfAll(one) && one.severity === "error"));
}

export async function validateTarget(
  target: string | DiscoveredPack,
  options: ValidationOptions = {},
): Promise<DetailedReport> {
  const { strict = false, dataOnly, requireConfinement, builtIns } = options;
  const { read, findContext, ...place } = await findTarget(target, options);
  const { location } = place;
  const sources = new Set(["package.json"]);
  const report = (
    problems: Problem[],
    name: string | null = null,
    version: unknown = null,
    pack?: DiscoveredPack,
  ): DetailedReport => {
    const fails = ({ severity }: Problem) => severity === "error" || (strict && severity === "warning");
    const ofItems = byKind((key) => pack?.[key].map((one) => one.name) ?? []);
    const head = { pack: name, version: typeof version === "string" ? version : null };
    return { report: { ok: !problems.some(fails), ...head, ...ofItems, problems }, location, sources };
  };

  if (isFault(read)) return report([await describeFault(read, { location, isSource: true })]);
  const { value } = read;
  const found = await describePack(port, { ...place, manifest: read });
  if (!isPack(found)) {
    const name = typeof value.name === "string" ? value.name : undefined;
    const hasMembers =
      Object.hasOwn(value, "workspaces") || port.exists(join(location, "pnpm-workspace.yaml"));
    const args = { name: name ?? "The package", ...(hasMembers && { hasMembers }) };
    const place = { ...(name !== undefined && { pack: name }), file: "package.json", line: 1, column: 1 };
    return report([createProblem("NoExtension", args, place)], name, value.version);
  }

  const inspected = await loadDefinitions(port, found, { dataOnly, requireConfinement, unneeded: true });
  for (const file of inspected.texts.keys()) sources.add(file);
  const pack = new PackUnderTest(inspected, { builtIns, findContext });
  const ofChecks = (await runChecks(pack, checks)).map(({ problem }) => problem);
  const ofField = found.pack.problems.map((problem): Problem => {
    const isError = problem.code === "UnknownExtensionKey" || problem.code === "MalformedPackageJson";
    return isError ? { ...problem, severity: "error" } : problem;
  });
  const ofInspection = [...ofField, ...inspected.problems];
  const problems = [...ofInspection.filter((one) => isUnexplained(one, ofChecks)), ...ofChecks];
  return report(problems, found.pack.name, value.version, found.pack);
}
