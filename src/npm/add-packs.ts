import { isDeepStrictEqual } from "node:util";
import { type FoundPacks, findPacks } from "../discovery/find-packs.ts";
import { declaredDependencies } from "../discovery/project.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { createProblem, failure, type Problem, TrailblazeError } from "../problems/index.ts";
import { findSimilarName } from "../qualified-names/index.ts";
import { validateTarget } from "../validate/validate-target.ts";
import { type ChangeOptions, changePackages } from "./managers/change-packages.ts";
import { findClaims, findNewClaims } from "./managers/find-claims.ts";
import { type OpenedProject, openProject } from "./managers/open-project.ts";
import { parseSpecs, type RegistrySpec } from "./parse-specs.ts";
import { namesOfItems, type PackPreview, previewPacks, readCommands } from "./preview-packs.ts";

export interface AddOptions extends ChangeOptions {
  /** For one answer of the registry; default: a minute. */
  registryTimeoutMs?: number;
  /** Receives what the packs would add to the project, and decides. Required, so that no caller forgets to ask. */
  consent: (previews: readonly PackPreview[]) => boolean | Promise<boolean>;
  /** Add packs whose names are almost those of others that are there; they are shown with a warning. Default: refuse. */
  allowSimilar?: boolean;
}

/** What was done to a project. */
export interface AddedPacks {
  /** As discovery finds them now. */
  added: DiscoveredPack[];
  /** Warnings about the packs before they were added, and what validation reports about them now. */
  problems: Problem[];
  /** Consent was refused: nothing was done. */
  declined: boolean;
}

const isPack = (name: string) => (pack: DiscoveredPack) => pack.name === name && !pack.shadowed;

/** Plug'n'Play keeps packages where nobody can look at them: told before anything is changed. */
function refusePlugAndPlay({ problems }: FoundPacks): void {
  const problem = problems.find(({ code }) => code === "UnsupportedLayout");
  if (problem !== undefined) throw new TrailblazeError(problem);
}

/** Why what is installed is not what was shown; `undefined` where it is. */
async function compare(
  port: InspectionPort,
  { packs, resolvePackage }: FoundPacks,
  { spec, pack, commands }: PackPreview,
): Promise<string | undefined> {
  const { name } = spec;
  const found = packs.find((one) => one.pack.location === resolvePackage(name));
  if (found === undefined || found.pack.name !== name) return `${name} is not there as a pack`;
  const { pack: installed } = found;
  if (installed.version !== pack.version)
    return (
      `${name} ${installed.version} was installed, but ${pack.version} had been shown; if the package manager has a ` +
      `minimum age for versions, name the one you want: ${name}@${installed.version}`
    );
  if (namesOfItems(installed) !== namesOfItems(pack)) return `${name} does not contain what was shown`;
  const isSame = isDeepStrictEqual(await readCommands(port, found), commands);
  return isSame ? undefined : `${name} starts its servers with other commands than those shown`;
}

/** The packs that the project has, and what it declares and has not installed, which may be packs. */
function* namesOfPacks(
  { packs, resolvePackage }: FoundPacks,
  { manifest }: OpenedProject,
): Generator<string> {
  for (const { pack } of packs) yield pack.name;
  for (const name of declaredDependencies(manifest)) if (resolvePackage(name) === undefined) yield name;
}

/** Warns of names that may be mistaken for those of packs that are there. Throws `SimilarName` unless they are allowed. */
function checkNames(
  names: readonly string[],
  existing: readonly string[],
  allowed: boolean,
): ReadonlyMap<string, Problem> {
  const warnings = new Map<string, Problem>();
  for (const name of names) {
    const similar = findSimilarName(name, existing);
    if (similar === undefined) continue;
    const args = { name, existing: similar, allowed };
    if (!allowed) throw failure("SimilarName", args, { pack: name });
    warnings.set(name, createProblem("SimilarName", args, { pack: name }));
  }
  return warnings;
}

/** What validation says of packs that were just installed. */
async function validateAdded(packs: readonly DiscoveredPack[], cwd: string): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const pack of packs) {
    const { report } = await validateTarget(pack, { cwd });
    problems.push(...report.problems);
  }
  return problems;
}

/**
 * Adds packs to a project with its own package manager: npm, pnpm or Yarn, whichever it declares or has a lockfile of.
 * Lifecycle scripts are not run. `specs` are names in a registry, with a tag, a version or a range if need be.
 *
 * Trust level: execution. Fetches the packs to show what they bring, and installs them only with `consent`; after a
 * failure package.json and lockfiles are as they were, byte for byte.
 *
 * Throws `TrailblazeError`: `UnsupportedSpec`, `RegistryUnavailable`, `ExtensionNotFound` (a package that is no pack),
 * `ReservedCommand`, `SimilarName`, `InstallFailed`, `ProjectNotFound`, `InvalidConfig`, `UnsupportedLayout`.
 */
export async function addPacks(specs: readonly string[], options: AddOptions): Promise<AddedPacks> {
  return addParsedPacks(parseSpecs(specs), options);
}

/** As `addPacks`, of specs that are parsed already. */
export async function addParsedPacks(
  parsed: readonly RegistrySpec[],
  options: AddOptions,
): Promise<AddedPacks> {
  const { cwd = process.cwd(), consent, allowSimilar = false, registryTimeoutMs, signal } = options;
  if (typeof consent !== "function")
    throw failure("InvalidArguments", { reason: "Adding packs takes a function `consent`" });
  if (parsed.length === 0) throw failure("InvalidArguments", { reason: "No pack to add is named" });
  const what = `add ${parsed.map(({ text }) => text).join(", ")}`;
  const port = createNodeInspectionPort();
  const project = await openProject(port, cwd, what);
  const before = await findPacks(port, { cwd: project.directory });
  refusePlugAndPlay(before);
  const names = parsed.map(({ name }) => name);
  const similar = checkNames(names, [...namesOfPacks(before, project)], allowSimilar);
  const claimsBefore = await findClaims(port, project.directory);
  const previews = await previewPacks(project, parsed, { port, registryTimeoutMs, signal });
  for (const { spec, warnings } of previews) {
    const warning = similar.get(spec.name);
    if (warning !== undefined) warnings.push(warning);
  }
  if (!(await consent(previews))) return { added: [], problems: [], declined: true };
  if (signal?.aborted) throw failure("InstallFailed", { what, reason: "it was interrupted" });

  const specTexts = parsed.map(({ text }) => text);
  let found: FoundPacks | undefined;
  await changePackages(project, "add", specTexts, options, async () => {
    const [claim] = findNewClaims(claimsBefore, await findClaims(port, project.directory));
    if (claim !== undefined) return claim;
    const now = await findPacks(port, { cwd: project.directory });
    found = now;
    const faults = await Promise.all(previews.map((one) => compare(port, now, one)));
    return faults.find((fault) => fault !== undefined);
  });
  const packs = found?.packs.map(({ pack }) => pack) ?? [];
  const claimed = claimsBefore.claims.map((claim) =>
    createProblem("ReservedCommand", claim, {}, "bystander"),
  );
  const added = parsed.flatMap(({ name }) => packs.find(isPack(name)) ?? []);
  const warnings = previews.flatMap((preview) => preview.warnings);
  return {
    added,
    problems: [...claimed, ...warnings, ...(await validateAdded(added, cwd))],
    declined: false,
  };
}
