import { join } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import { findPacks } from "../discovery/find-packs.ts";
import { readUsableManifest } from "../discovery/manifest.ts";
import { resolveFrom } from "../discovery/package-folders.ts";
import { declaredDependencies, dependencyKeys, findProject } from "../discovery/project.ts";
import type { DiscoveredPack, Manifest } from "../discovery/types.ts";
import { walkInstalled } from "../discovery/walk-packages.ts";
import type { Workspace } from "../discovery/workspace.ts";
import { inspectionPort as port } from "../files/node-inspection-port.ts";
import { createProblem, failure, type Problem, TrailblazeError } from "../problems/index.ts";
import { findSimilarName } from "../qualified-names/similar-names.ts";
import { validateTarget } from "../validate/validate-target.ts";
import { type ChangeOptions, changePackages, openProject } from "./managers/change-packages.ts";
import { rebuildCommand } from "./managers/package-manager.ts";
import { parseReferredPack, type RegistrySpec } from "./parse-specs.ts";
import { type PackPreview, type PreviewOptions, previewPacks, rejectClaim } from "./preview-packs.ts";
import { digestFiles } from "./registry/fetch-package.ts";

export interface AddOptions extends ChangeOptions, PreviewOptions {
  /** Allow names that are very similar to existing ones, with a warning. Default: false, which throws `SimilarName`. */
  allowSimilar?: boolean;
}

export interface AddedPacks {
  added: DiscoveredPack[];
  /** Warnings of the previews, and problems that validation finds after the installation. */
  problems: Problem[];
}

export const lifecycleScripts = ["preinstall", "install", "postinstall"];

/** The reason why an installed package differs from its preview; `undefined` if it is the same. */
function compare(project: string, { pack: { name, version }, digests }: PackPreview): string | undefined {
  const location = resolveFrom(port, project, name);
  const read = readUsableManifest(port, location);
  const isDeclared = declaredDependencies(readUsableManifest(port, project)).has(name);
  if (location === undefined || read === undefined || !isDeclared) return `${name} was not installed`;
  const { version: actual } = read.value;
  if (actual !== version)
    return `${name} ${actual} was installed, but the preview showed ${version}; if the package manager has a minimum release age, pass the version: ${name}@${actual}`;
  const installed = digestFiles(location);
  const paths = [...digests.keys(), ...installed.keys()];
  const file = paths.find((path) => digests.get(path) !== installed.get(path));
  return file && `the contents of ${name} differ from the preview, first in ${file}`;
}

/** The installed packages that are not of the project's own workspace. `key`: place and version. */
const readInstalled = (workspace: Workspace) =>
  [...walkInstalled(port, workspace)].flatMap(([location, installedAs]) => {
    const manifest = readUsableManifest(port, location)?.value;
    if (manifest === undefined) return [];
    return { key: `${location}\n${manifest.version}`, location, installedAs, manifest };
  });

/**
 * Plans to add packs to a project with its package manager: npm, pnpm or Yarn, according to its package.json or lockfile.
 * Fetches the packs for previews. Nothing changes until `apply`, which needs the consent of who has seen these: it installs the
 * packs without their lifecycle scripts, calls `complete`, and after a failure restores package.json and lockfiles byte for byte.
 *
 * Trust level: execution. Both throw `TrailblazeError`: `UnsupportedSpec`, `RegistryUnavailable`, `ExtensionNotFound` (the package
 * is not a pack) or with `servers` `NotAPack`, `ReservedCommand`, `SimilarName`, `InstallFailed`, `ProjectNotFound`,
 * `InvalidConfig`, `UnsupportedLayout`.
 */
export async function planAdd(specs: readonly RegistrySpec[], options: AddOptions = {}) {
  const { cwd = process.cwd(), allowSimilar = false, signal } = options;
  const packages = specs.map(({ text }) => text);
  const what = `add ${packages.join(", ")}`;
  const project = await openProject(cwd, what);
  const { directory, found } = project;
  // Missing dependencies may be packs.
  const missing = [...project.declared].filter((name) => resolveFrom(port, directory, name) === undefined);
  const names = [...found.packs.map(({ pack }) => pack.name), ...missing];
  const similar = specs.flatMap(({ name }) => {
    const existing = findSimilarName(name, names);
    if (existing === undefined) return [];
    return createProblem("SimilarName", { name, existing, allowed: allowSimilar }, { pack: name });
  });
  if (similar[0] !== undefined && !allowSimilar) throw new TrailblazeError(similar[0]);
  const installed = new Set(readInstalled(found.workspace).map(({ key }) => key));
  const previews = await previewPacks(project.root, specs, options);
  for (const { spec, warnings } of previews)
    warnings.push(...similar.filter(({ pack }) => pack === spec.name));

  async function apply(complete?: () => Promise<void>): Promise<AddedPacks> {
    if (signal?.aborted) throw failure("InstallFailed", { what, reason: "it was interrupted" });
    const skipped = new Set<string>();
    const verify = async () => {
      for (const { key, location, installedAs, manifest } of readInstalled(found.workspace)) {
        if (installed.has(key)) continue;
        rejectClaim(manifest, installedAs, what);
        const { name = installedAs, scripts, gypfile } = manifest;
        // npm also builds a package with a binding.gyp.
        const isBuilt = gypfile !== false && port.exists(join(location, "binding.gyp"));
        if (isBuilt || lifecycleScripts.some((script) => isRecord(scripts) && Object.hasOwn(scripts, script)))
          skipped.add(String(name));
      }
      const [reason] = previews.flatMap((preview) => compare(directory, preview) ?? []);
      if (reason !== undefined) throw failure("InstallFailed", { what, reason });
    };
    await changePackages(project, { kind: "add", packages }, options, { verify, complete });
    const { packs } = await findPacks(port, { cwd: directory });
    const added = specs.flatMap(({ name }) => {
      const one = packs.find(({ pack }) => pack.name === name && !pack.shadowed);
      return one?.pack ?? [];
    });
    const problems = previews.flatMap((preview) => preview.warnings);
    if (skipped.size > 0) {
      const scripted = [...skipped].sort();
      const command = rebuildCommand(project.manager, scripted);
      problems.push(createProblem("LifecycleScript", { packages: scripted, command }));
    }
    for (const pack of added) problems.push(...(await validateTarget(pack, { cwd })).report.problems);
    return { added, problems };
  }
  return { previews, apply };
}

function declaredVersion(manifest: Manifest | undefined, name: string): unknown {
  const lists = dependencyKeys.map((key) => manifest?.value[key]).filter(isRecord);
  return lists.find((list) => Object.hasOwn(list, name))?.[name];
}

/**
 * Installs a missing pack, by its npm name, for callers with prior consent: `--install` or `packs.autoInstall`.
 * Selects a version in the range that package.json declares, otherwise in that of the reference. A failure becomes a problem.
 */
export async function installMissing(
  { name, range }: { name: string; range: string | undefined },
  options: AddOptions = {},
): Promise<AddedPacks> {
  const { cwd = process.cwd() } = options;
  const { directory, manifest } = findProject(port, cwd);
  if (resolveFrom(port, directory, name) !== undefined) return { added: [], problems: [] };
  try {
    const spec = parseReferredPack(name, range, declaredVersion(manifest, name));
    return await (await planAdd([spec], { ...options, cwd })).apply();
  } catch (error) {
    if (!(error instanceof TrailblazeError)) throw error;
    return { added: [], problems: [{ ...error.problem, pack: name }] };
  }
}
