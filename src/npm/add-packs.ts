import { isRecord } from "../data/parse-json.ts";
import { type FoundPacks, findPacks } from "../discovery/find-packs.ts";
import { readUsableManifest } from "../discovery/manifest.ts";
import { resolveFrom } from "../discovery/package-folders.ts";
import { declaredDependencies, dependencyKeys, findProject } from "../discovery/project.ts";
import type { DiscoveredPack, Manifest } from "../discovery/types.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { createProblem, failure, type Problem, TrailblazeError } from "../problems/index.ts";
import { findSimilarName } from "../qualified-names/index.ts";
import { validateTarget } from "../validate/validate-target.ts";
import { type ChangeOptions, changePackages, openProject } from "./managers/change-packages.ts";
import {
  findClaim,
  findNewPackages,
  findSkippedScripts,
  readInstalledPackages,
} from "./managers/installed-packages.ts";
import { rebuildCommand } from "./managers/package-manager.ts";
import { parseReferredPack, parseSpecs, type RegistrySpec } from "./parse-specs.ts";
import { type PackPreview, type PreviewedPack, type PreviewOptions, previewPacks } from "./preview-packs.ts";
import { digestFiles } from "./registry/fetch-package.ts";

export interface AddOptions extends ChangeOptions {
  /** The timeout of one registry request in milliseconds; default: one minute. */
  registryTimeoutMs?: number;
  /** Receives previews of the packs and returns whether to install them. Required, so that callers cannot forget it. */
  consent: (previews: readonly PreviewedPack[]) => boolean | Promise<boolean>;
  /** Allow names that are very similar to existing ones, with a warning. Default: false, which throws `SimilarName`. */
  allowSimilar?: boolean;
  /** Also add MCP servers that are not packs: those whose package.json says so, or any package with a command. */
  servers?: PreviewOptions["servers"];
  /**
   * Called after the installation, for example to write the config. If it rejects, the installation is undone.
   */
  complete?: () => Promise<void>;
}

/** The result of adding packs. */
export interface AddedPacks {
  /** The added packs, as discovery finds them. */
  added: DiscoveredPack[];
  /** The previews of added MCP servers that are not packs. */
  servers: PackPreview[];
  /** Warnings of the previews, and problems that validation finds after the installation. */
  problems: Problem[];
  /** Consent was declined, and nothing was changed. */
  declined: boolean;
}

const isPack = (name: string) => (pack: DiscoveredPack) => pack.name === name && !pack.shadowed;

/** Rejects projects whose packages discovery cannot read before any change. */
export function rejectUnsupportedLayout({ problems }: FoundPacks): void {
  const problem = problems.find(({ code }) => code === "UnsupportedLayout");
  if (problem !== undefined) throw new TrailblazeError(problem);
}

const describeVersion = (name: string, version: unknown, shown: PackPreview["pack"]): string =>
  `${name} ${version} was installed, but the preview showed ${shown.version}; if the package manager has a minimum ` +
  `release age, pass the version: ${name}@${version}`;

/** The reason why an installed package differs from its preview; `undefined` if it is the same. */
function compare(
  port: InspectionPort,
  { packs, project }: FoundPacks,
  { spec, pack, serverBins, files }: PreviewedPack,
): string | undefined {
  const { name } = spec;
  const location = resolveFrom(port, project, name);
  const read = readUsableManifest(port, location);
  if (location === undefined || read === undefined) return `${name} was not installed`;
  const found = packs.find((one) => isPack(name)(one.pack));
  if (serverBins === undefined && (found === undefined || found.pack.packageName !== undefined))
    return `${name} was not installed as a pack`;
  if (read.value.version !== pack.version) return describeVersion(name, read.value.version, pack);
  const installed = digestFiles(location);
  const file = [...files.keys(), ...installed.keys()].find((path) => files.get(path) !== installed.get(path));
  return file && `the contents of ${name} differ from the preview, first in ${file}`;
}

/** Creates warnings for names that are very similar to existing ones. Throws `SimilarName` unless `allowed`. */
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

/** Like `addPacks`, with parsed specs. */
export async function addParsedPacks(
  parsed: readonly RegistrySpec[],
  options: AddOptions,
): Promise<AddedPacks> {
  const { cwd = process.cwd(), consent, allowSimilar = false, registryTimeoutMs, signal, servers } = options;
  if (typeof consent !== "function")
    throw failure("InvalidArguments", { reason: "`consent` must be a function" });
  if (parsed.length === 0)
    throw failure("InvalidArguments", { reason: "Adding packs requires at least one name" });
  const what = `add ${parsed.map(({ text }) => text).join(", ")}`;
  const port = createNodeInspectionPort();
  const before = await findPacks(port, { cwd });
  const names = parsed.map(({ name }) => name);
  rejectUnsupportedLayout(before);
  const project = await openProject(port, cwd, what);
  const installedPacks = before.packs.map(({ pack }) => pack.name);
  // Missing dependencies may be packs.
  const missing = [...declaredDependencies(project.manifest)].filter(
    (name) => resolveFrom(port, before.project, name) === undefined,
  );
  const similar = checkNames(names, [...installedPacks, ...missing], allowSimilar);
  const installed = await readInstalledPackages(port, project.directory);
  const previews = await previewPacks(project, parsed, { port, registryTimeoutMs, signal, servers });
  for (const { spec, warnings } of previews) {
    const warning = similar.get(spec.name);
    if (warning !== undefined) warnings.push(warning);
  }
  const isAgreed = await consent(previews);
  if (signal?.aborted) throw failure("InstallFailed", { what, reason: "it was interrupted" });
  if (!isAgreed) return { added: [], servers: [], problems: [], declined: true };

  const packages = parsed.map(({ text }) => text);
  let found: FoundPacks | undefined;
  let skipped: string[] = [];
  const verify = async () => {
    const news = findNewPackages(installed, await readInstalledPackages(port, project.directory));
    const claim = findClaim(news);
    if (claim !== undefined) return claim;
    skipped = findSkippedScripts(port, news);
    const now = await findPacks(port, { cwd: project.directory });
    found = now;
    return previews.flatMap((one) => compare(port, now, one) ?? [])[0];
  };
  await changePackages(project, { kind: "add", packages }, options, { verify, complete: options.complete });
  const packs = found?.packs.map(({ pack }) => pack) ?? [];
  const added = parsed.flatMap(({ name }) => packs.find(isPack(name)) ?? []);
  const warnings = previews.flatMap((preview) => preview.warnings);
  const command = rebuildCommand(project.manager, skipped);
  const problems = [...warnings];
  if (skipped.length > 0) problems.push(createProblem("LifecycleScript", { packages: skipped, command }));
  for (const pack of added) problems.push(...(await validateTarget(pack, { cwd })).report.problems);
  const plain = previews.filter(({ serverBins }) => serverBins !== undefined);
  return { added, servers: plain, problems, declined: false };
}

export type MissingPacksResult = Pick<AddedPacks, "added" | "problems">;

/** A referenced pack that is not installed, with the range of a reference. */
export interface MissingPack {
  /** The npm name. */
  name: string;
  range: string | undefined;
}

/** The version that a package.json declares for a dependency; `undefined` if it does not declare the dependency. */
function declaredVersion(manifest: Manifest | undefined, name: string): unknown {
  for (const key of dependencyKeys) {
    const declared = manifest?.value[key];
    if (isRecord(declared) && Object.hasOwn(declared, name)) return declared[name];
  }
  return undefined;
}

/**
 * Installs a missing pack like `addPacks`, for callers with prior consent: `--install` or `packs.autoInstall`. Selects a
 * version in the range that package.json declares, otherwise in that of the reference. A failure becomes a problem.
 */
export async function installMissing(
  { name, range }: MissingPack,
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
