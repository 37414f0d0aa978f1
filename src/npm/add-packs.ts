import { join } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import { type FoundPacks, findPacks } from "../discovery/find-packs.ts";
import { readUsableManifest } from "../discovery/manifest.ts";
import { resolveFrom } from "../discovery/package-folders.ts";
import { declaredDependencies, dependencyKeys, findProject } from "../discovery/project.ts";
import type { DiscoveredPack, Manifest } from "../discovery/types.ts";
import { walkInstalled } from "../discovery/walk-packages.ts";
import { findWorkspace } from "../discovery/workspace.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { createProblem, failure, type Problem, TrailblazeError } from "../problems/index.ts";
import { findSimilarName } from "../qualified-names/index.ts";
import { validateTarget } from "../validate/validate-target.ts";
import { type ChangeOptions, changePackages, openProject } from "./managers/change-packages.ts";
import { rebuildCommand } from "./managers/package-manager.ts";
import { parseReferredPack, parseSpecs, type RegistrySpec } from "./parse-specs.ts";
import { type PackPreview, type PreviewOptions, previewPacks, rejectClaim } from "./preview-packs.ts";
import { digestFiles } from "./registry/fetch-package.ts";

export interface AddOptions extends ChangeOptions {
  /** The timeout of one registry request in milliseconds; default: one minute. */
  registryTimeoutMs?: number;
  /** Receives previews of the packs and returns whether to install them. Required, so that callers cannot forget it. */
  consent: (previews: readonly PackPreview[]) => boolean | Promise<boolean>;
  /** Allow names that are very similar to existing ones, with a warning. Default: false, which throws `SimilarName`. */
  allowSimilar?: boolean;
  /** Also add MCP servers that are not packs: those whose package.json says so, or any package with a command. */
  servers?: PreviewOptions["servers"];
  /** Called after the installation. If it rejects, the installation is undone. */
  complete?: () => Promise<void>;
}

export interface AddedPacks {
  added: DiscoveredPack[];
  /** Warnings of the previews, and problems that validation finds after the installation. */
  problems: Problem[];
  declined: boolean;
}

export const lifecycleScripts = ["preinstall", "install", "postinstall"];

const isPack = (name: string) => (pack: DiscoveredPack) => pack.name === name && !pack.shadowed;

/** Rejects projects whose packages discovery cannot read before any change. */
export function rejectUnsupportedLayout({ problems }: FoundPacks): void {
  const problem = problems.find(({ code }) => code === "UnsupportedLayout");
  if (problem !== undefined) throw new TrailblazeError(problem);
}

/** The reason why an installed package differs from its preview; `undefined` if it is the same. */
function compare(
  port: InspectionPort,
  { packs, project }: FoundPacks,
  { pack: { name, version }, serverBins, digests }: PackPreview,
): string | undefined {
  const location = resolveFrom(port, project, name);
  const read = readUsableManifest(port, location);
  if (location === undefined || read === undefined) return `${name} was not installed`;
  const found = packs.find((one) => isPack(name)(one.pack));
  if (serverBins === undefined && (found === undefined || found.pack.packageName !== undefined))
    return `${name} was not installed as a pack`;
  const { version: actual } = read.value;
  if (actual !== version)
    return `${name} ${actual} was installed, but the preview showed ${version}; if the package manager has a minimum release age, pass the version: ${name}@${actual}`;
  const installed = digestFiles(location);
  const paths = [...digests.keys(), ...installed.keys()];
  const file = paths.find((path) => digests.get(path) !== installed.get(path));
  return file && `the contents of ${name} differ from the preview, first in ${file}`;
}

/** The installed packages that are not of the project's own workspace, by place and version. */
async function readInstalled(port: InspectionPort, cwd: string) {
  const workspace = await findWorkspace(port, findProject(port, cwd));
  const installed = [...walkInstalled(port, workspace)].flatMap(([location, installedAs]) => {
    const manifest = readUsableManifest(port, location)?.value;
    return manifest === undefined ? [] : [{ location, installedAs, manifest }];
  });
  return new Map(installed.map((one) => [`${one.location}\n${one.manifest.version}`, one]));
}

/**
 * Adds packs to a project with its package manager: npm, pnpm or Yarn, according to its package.json or lockfile. Does
 * not run lifecycle scripts. `specs` are names in a registry, optionally with a tag, a version or a range.
 *
 * Trust level: execution. Fetches the packs for previews, and installs them only with `consent`. After a failure, restores
 * package.json and lockfiles byte for byte.
 *
 * Throws `TrailblazeError`: `UnsupportedSpec`, `RegistryUnavailable`, `ExtensionNotFound` (the package is not a pack)
 * or with `servers` `NotAPack`, `ReservedCommand`, `SimilarName`, `InstallFailed`, `ProjectNotFound`, `InvalidConfig`, `UnsupportedLayout`.
 */
export async function addPacks(specs: readonly string[], options: AddOptions): Promise<AddedPacks> {
  return addParsedPacks(parseSpecs(specs), options);
}

async function addParsedPacks(parsed: readonly RegistrySpec[], options: AddOptions): Promise<AddedPacks> {
  const { cwd = process.cwd(), consent, allowSimilar = false, registryTimeoutMs, signal, servers } = options;
  const what = `add ${parsed.map(({ text }) => text).join(", ")}`;
  const port = createNodeInspectionPort();
  const before = await findPacks(port, { cwd });
  rejectUnsupportedLayout(before);
  const project = await openProject(port, cwd, what);
  const installedPacks = before.packs.map(({ pack }) => pack.name);
  // Missing dependencies may be packs.
  const missing = [...declaredDependencies(project.manifest)].filter(
    (name) => resolveFrom(port, before.project, name) === undefined,
  );
  const similar = parsed.flatMap(({ name }) => {
    const existing = findSimilarName(name, [...installedPacks, ...missing]);
    if (existing === undefined) return [];
    const args = { name, existing, allowed: allowSimilar };
    if (!allowSimilar) throw failure("SimilarName", args, { pack: name });
    return createProblem("SimilarName", args, { pack: name });
  });
  const installed = await readInstalled(port, project.directory);
  const previews = await previewPacks(project.root, parsed, { port, registryTimeoutMs, signal, servers });
  for (const { spec, warnings } of previews)
    warnings.push(...similar.filter(({ pack }) => pack === spec.name));
  const isAgreed = await consent(previews);
  if (signal?.aborted) throw failure("InstallFailed", { what, reason: "it was interrupted" });
  if (!isAgreed) return { added: [], problems: [], declined: true };

  const packages = parsed.map(({ text }) => text);
  let packs: DiscoveredPack[] = [];
  const skipped = new Set<string>();
  const verify = async () => {
    for (const [key, { location, installedAs, manifest }] of await readInstalled(port, project.directory)) {
      if (installed.has(key)) continue;
      rejectClaim(manifest, installedAs, what);
      const { name = installedAs, scripts, gypfile } = manifest;
      // npm also builds a package with a binding.gyp.
      const isBuilt = gypfile !== false && port.exists(join(location, "binding.gyp"));
      if (isBuilt || lifecycleScripts.some((script) => isRecord(scripts) && Object.hasOwn(scripts, script)))
        skipped.add(String(name));
    }
    const found = await findPacks(port, { cwd: project.directory });
    packs = found.packs.map(({ pack }) => pack);
    const [reason] = previews.flatMap((preview) => compare(port, found, preview) ?? []);
    if (reason !== undefined) throw failure("InstallFailed", { what, reason });
  };
  await changePackages(project, { kind: "add", packages }, options, { verify, complete: options.complete });
  const added = parsed.flatMap(({ name }) => packs.find(isPack(name)) ?? []);
  const problems = previews.flatMap((preview) => preview.warnings);
  if (skipped.size > 0) {
    const scripted = [...skipped].sort();
    const command = rebuildCommand(project.manager, scripted);
    problems.push(createProblem("LifecycleScript", { packages: scripted, command }));
  }
  for (const pack of added) problems.push(...(await validateTarget(pack, { cwd })).report.problems);
  return { added, problems, declined: false };
}

export type MissingPacksResult = Pick<AddedPacks, "added" | "problems">;

function declaredVersion(manifest: Manifest | undefined, name: string): unknown {
  const lists = dependencyKeys.map((key) => manifest?.value[key]).filter(isRecord);
  return lists.find((list) => Object.hasOwn(list, name))?.[name];
}

/**
 * Installs a missing pack, by its npm name, like `addPacks`, for callers with prior consent: `--install` or `packs.autoInstall`.
 * Selects a version in the range that package.json declares, otherwise in that of the reference. A failure becomes a problem.
 */
export async function installMissing(
  { name, range }: { name: string; range: string | undefined },
  options: Omit<AddOptions, "consent"> = {},
): Promise<MissingPacksResult> {
  const { cwd = process.cwd() } = options;
  const port = createNodeInspectionPort();
  const { directory, manifest } = findProject(port, cwd);
  if (resolveFrom(port, directory, name) !== undefined) return { added: [], problems: [] };
  try {
    const spec = parseReferredPack(name, range, declaredVersion(manifest, name));
    return await addParsedPacks([spec], { ...options, cwd, consent: () => true });
  } catch (error) {
    if (!(error instanceof TrailblazeError)) throw error;
    return { added: [], problems: [{ ...error.problem, pack: name }] };
  }
}
