import { isDeepStrictEqual } from "node:util";
import { type FoundPacks, findPacks } from "../../discovery/find-packs.ts";
import { declaredDependencies } from "../../discovery/project.ts";
import type { DiscoveredPack } from "../../discovery/types.ts";
import type { InspectionPort } from "../../files/inspection-port.ts";
import { createProblem, failure, type Problem, TrailblazeError } from "../../problems/index.ts";
import { findSimilarName } from "../../qualified-names/index.ts";
import { type ChangeableProject, type ChangeMeans, changePackages } from "./change-packages.ts";
import { findClaims, findNewClaims } from "./find-claims.ts";
import { type OpenedProject, type OpenMeans, openProject } from "./open-project.ts";
import type { RegistrySpec } from "./parse-specs.ts";
import {
  namesOfItems,
  type PackPreview,
  type PreviewMeans,
  previewPacks,
  readCommands,
} from "./preview-packs.ts";

export interface AddMeans extends ChangeMeans, OpenMeans {
  createPreviewMeans(project: ChangeableProject): Promise<PreviewMeans>;
}

/** What is asked of whoever adds packs, with all that they would bring. */
export type Consent = (previews: readonly PackPreview[]) => boolean | Promise<boolean>;

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

/** What was added, and what people should know of it. */
export interface AddedPacks {
  packs: DiscoveredPack[];
  warnings: Problem[];
}

/**
 * Adds packs with the project's own package manager, after showing what they bring. Gives them as discovery finds them
 * then, or `undefined` where consent was refused. Throws `TrailblazeError`: `UnsupportedSpec` (of a pack's dependency),
 * `RegistryUnavailable`, `ExtensionNotFound`, `InstallFailed`, `ReservedCommand`, `SimilarName` (unless that is allowed),
 * and what discovery throws.
 */
export async function addPacksWith(
  means: AddMeans,
  parsed: readonly RegistrySpec[],
  cwd: string,
  { consent, allowSimilar = false }: { consent: Consent; allowSimilar?: boolean | undefined },
): Promise<AddedPacks | undefined> {
  if (parsed.length === 0) throw failure("InvalidArguments", { reason: "No pack to add is named" });
  const what = `add ${parsed.map(({ text }) => text).join(", ")}`;
  const project = await openProject(means, cwd, what);
  const { port, signal } = means;
  const before = await findPacks(port, { cwd: project.directory });
  refusePlugAndPlay(before);
  const names = parsed.map(({ name }) => name);
  const similar = checkNames(names, [...namesOfPacks(before, project)], allowSimilar);
  const claimsBefore = await findClaims(port, project.directory);
  const preview = await means.createPreviewMeans(project);
  const previews = await previewPacks(preview, parsed);
  for (const { spec, warnings } of previews) {
    const warning = similar.get(spec.name);
    if (warning !== undefined) warnings.push(warning);
  }
  if (!(await consent(previews))) return undefined;
  if (signal?.aborted) throw failure("InstallFailed", { what, reason: "it was interrupted" });

  const specTexts = parsed.map(({ text }) => text);
  let found: FoundPacks | undefined;
  await changePackages(means, project, "add", specTexts, async () => {
    const [claim] = findNewClaims(claimsBefore, await findClaims(port, project.directory));
    if (claim !== undefined) return claim;
    const now = await findPacks(port, { cwd: project.directory });
    found = now;
    const faults = await Promise.all(previews.map((one) => compare(preview.inspection, now, one)));
    return faults.find((fault) => fault !== undefined);
  });
  const packs = found?.packs.map(({ pack }) => pack) ?? [];
  const claimed = claimsBefore.claims.map((claim) =>
    createProblem("ReservedCommand", claim, {}, "bystander"),
  );
  return {
    packs: parsed.flatMap(({ name }) => packs.find(isPack(name)) ?? []),
    warnings: [...claimed, ...previews.flatMap(({ warnings }) => warnings)],
  };
}
