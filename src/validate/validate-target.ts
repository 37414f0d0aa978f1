import { join, resolve } from "node:path";
import { describeFault, describePack } from "../discovery/describe-pack.ts";
import { type FoundPacks, findPacks } from "../discovery/find-packs.ts";
import { isFault, type ReadPackage, readManifest } from "../discovery/manifest.ts";
import { findProject } from "../discovery/project.ts";
import { type DiscoveredPack, isPack, type Origin } from "../discovery/types.ts";
import { findWorkspace } from "../discovery/workspace.ts";
import { inspectionPort as port } from "../files/node-inspection-port.ts";
import {
  findOwner,
  findPackBySubject,
  findPacksFor,
  type InspectionOptions,
  requirePack,
} from "../inspection/inspect.ts";
import { loadDefinitions } from "../inspection/load-definitions.ts";
import type { InspectedPack } from "../inspection/types.ts";
import { byKind, type KindKey } from "../kinds.ts";
import { createProblem, failure, type Problem } from "../problems/index.ts";
import { isPackageName } from "../qualified-names/item-name.ts";
import { isQualifiedName } from "../qualified-names/qualified-name.ts";
import * as definitions from "./checks/definitions.ts";
import * as modules from "./checks/modules.ts";
import * as manifest from "./checks/package.ts";
import * as prompts from "./checks/prompts-resources.ts";
import * as references from "./checks/references.ts";
import * as schemas from "./checks/schemas.ts";
import * as servers from "./checks/servers.ts";
import * as texts from "./checks/texts.ts";
import * as tools from "./checks/tools.ts";
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

/** `acme/jira` may be the name `@acme/jira`. */
const mayBePack = (target: string) => isPackageName(target) || isPackageName(`@${target}`);

/** True for paths that can be neither names of packs nor of items. */
const isPath = (target: string) =>
  /^[./\\]|^[A-Za-z]:[/\\]/.test(target) || !(mayBePack(target) || isQualifiedName(target));

type Target = ReadPackage & { findContext: () => Promise<FoundPacks> };

/** Finds the package of a folder, a name or a pack. Throws `TrailblazeError` if there is none. */
async function findTarget(target: string | DiscoveredPack, explicitCwd: string | undefined): Promise<Target> {
  const cwd = explicitCwd ?? process.cwd();
  const missing = (directory: string, exists: boolean) =>
    failure("ProjectNotFound", { directory, exists, isTarget: true });
  const readIn = (location: string, origin: Origin, contextCwd: string, name?: string): Target => {
    const read = readManifest(port, location);
    if (read === undefined) throw missing(location, true);
    return { name, location, read, origin, findContext: () => findPacks(port, { cwd: contextCwd }) };
  };
  if (typeof target !== "string") {
    if (typeof target?.location !== "string")
      throw failure("InvalidArguments", { reason: "The target must be a folder, a name or a pack" });
    const { location, origin, name } = target;
    const isSource = origin === "self" || origin === "workspace";
    const contextCwd = origin === "self" ? location : (explicitCwd ?? location);
    return readIn(location, origin, contextCwd, isSource ? undefined : name);
  }
  const folder = resolve(cwd, target);
  const isProject = target === ".";
  if (isProject || isPath(target) || port.exists(join(folder, "package.json"))) {
    // Only "." refers to the enclosing project; other folders must contain the package.
    const location = isProject ? findProject(port, folder).directory : port.realPath(folder);
    if (location === undefined) throw missing(folder, false);
    return readIn(location, "self", location);
  }
  const found = await findPacksFor(target, { cwd });
  const isKnown = findPackBySubject(found, target) !== undefined || findOwner(found, target) !== undefined;
  const isFolder = port.exists(folder);
  if (!isKnown && (isFolder || !mayBePack(target))) throw missing(folder, isFolder);
  const named = await requirePack(found, target);
  return { ...named.pack, read: named.manifest, findContext: async () => found };
}

export async function validateTarget(
  target: string | DiscoveredPack,
  options: ValidationOptions = {},
): Promise<DetailedReport> {
  const { cwd, strict = false, dataOnly, requireConfinement, builtIns } = options;
  const { read, findContext, ...place } = await findTarget(target, cwd);
  const { location } = place;
  const report = (
    problems: Problem[],
    name: string | null = null,
    version: unknown = null,
    inspected?: InspectedPack,
  ): DetailedReport => {
    const fails = ({ severity }: Problem) => severity === "error" || (strict && severity === "warning");
    const ofItems = byKind((key) => inspected?.pack[key].map((one) => one.name) ?? []);
    const sources = new Set(inspected?.texts.keys() ?? ["package.json"]);
    const head = { pack: name, version: typeof version === "string" ? version : null };
    return { report: { ok: !problems.some(fails), ...head, ...ofItems, problems }, location, sources };
  };

  if (isFault(read)) return report([await describeFault(read, { location, name: undefined })]);
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
  const pack = new PackUnderTest(inspected, { builtIns, findContext });
  const ofChecks = (await runChecks(pack, checks)).map(({ problem }) => problem);
  const ofField = found.pack.problems.map((problem): Problem => {
    const isError = problem.code === "UnknownExtensionKey" || problem.code === "MalformedPackageJson";
    return isError ? { ...problem, severity: "error" } : problem;
  });
  const ofInspection = [...ofField, ...inspected.problems];
  const problems = [...ofInspection.filter((one) => isUnexplained(one, ofChecks)), ...ofChecks];
  return report(problems, found.pack.name, value.version, inspected);
}

/**
 * Returns the absolute paths of the packs among the members of the workspace that `cwd` is in, and the problems of finding
 * them. A member whose package.json is invalid counts as a pack. Throws `TrailblazeError`: `NoExtension` without any pack,
 * and `ProjectNotFound`.
 */
export async function findWorkspacePacks(cwd: string): Promise<{ folders: string[]; problems: Problem[] }> {
  const project = findProject(port, cwd);
  const { root, members, problems } = await findWorkspace(port, project);
  const folders = members.filter((folder) => {
    const read = readManifest(port, folder);
    return read !== undefined && (isFault(read) || Object.hasOwn(read.value, "trailblaze"));
  });
  if (folders.length === 0) throw failure("NoExtension", { name: root, isWorkspace: true });
  return { folders, problems };
}
