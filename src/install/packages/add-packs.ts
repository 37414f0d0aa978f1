import { type FoundPacks, findPacks } from "../../discovery/find-packs.ts";
import type { DiscoveredPack } from "../../discovery/types.ts";
import { failure, TrailblazeError } from "../../problems/index.ts";
import { type ChangeMeans, changePackages } from "./change-packages.ts";
import { type OpenMeans, openProject } from "./open-project.ts";
import { parseSpecs } from "./parse-specs.ts";
import { namesOfItems, type PackPreview, type PreviewMeans, previewPacks } from "./preview-packs.ts";

export interface AddMeans extends ChangeMeans, OpenMeans {
  createPreviewMeans(): Promise<PreviewMeans>;
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
function compare({ packs, resolvePackage }: FoundPacks, { spec, pack }: PackPreview): string | undefined {
  const { name } = spec;
  const installed = packs.find((one) => one.pack.location === resolvePackage(name))?.pack;
  if (installed === undefined || installed.name !== name) return `${name} is not there as a pack`;
  if (installed.version !== pack.version)
    return `${name} ${installed.version} was installed, but ${pack.version} had been shown`;
  return namesOfItems(installed) === namesOfItems(pack)
    ? undefined
    : `${name} does not bring what had been shown`;
}

/**
 * Adds packs with the project's own package manager, after showing what they bring. Gives them as discovery finds them
 * then, or `undefined` where consent was refused. Throws `TrailblazeError`: `UnsupportedSpec`, `RegistryUnavailable`,
 * `ExtensionNotFound`, `InstallFailed`, and what discovery throws.
 */
export async function addPacksWith(
  means: AddMeans,
  specs: readonly string[],
  cwd: string,
  consent: Consent,
): Promise<DiscoveredPack[] | undefined> {
  const parsed = parseSpecs(specs);
  if (parsed.length === 0) throw failure("InvalidArguments", { reason: "No pack to add is named" });
  const what = `add ${parsed.map(({ text }) => text).join(", ")}`;
  const project = await openProject(means, cwd, what);
  const { port, signal } = means;
  refusePlugAndPlay(await findPacks(port, { cwd: project.directory }));
  const previews = await previewPacks(await means.createPreviewMeans(), parsed);
  if (!(await consent(previews))) return undefined;
  if (signal?.aborted) throw failure("InstallFailed", { what, reason: "it was interrupted" });

  const specTexts = parsed.map(({ text }) => text);
  let found: FoundPacks | undefined;
  await changePackages(means, project, "add", specTexts, async () => {
    const now = await findPacks(port, { cwd: project.directory });
    found = now;
    return previews.map((preview) => compare(now, preview)).find((fault) => fault !== undefined);
  });
  const packs = found?.packs.map(({ pack }) => pack) ?? [];
  return parsed.flatMap(({ name }) => packs.find(isPack(name)) ?? []);
}
