import { join } from "node:path";
import { declaredVersion, findProject } from "../discovery/project.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { createInspectionMeans } from "../inspection/inspection-means.ts";
import { failure, type Problem, TrailblazeError } from "../problems/index.ts";
import { findStateDirectory } from "../processes/log-folder.ts";
import { createPackageManagerPort, readManagerVersion } from "./package-manager.ts";
import type { AddMeans } from "./packages/add-packs.ts";
import type { RegistrySpec } from "./packages/parse-specs.ts";
import type { PackPreview } from "./packages/preview-packs.ts";
import type { RemovedPack } from "./packages/remove-packs.ts";
import { saveEntries, saveFiles } from "./project-files.ts";
import { lockProject } from "./project-lock.ts";

export type { PackPreview, ServerCommand } from "./packages/preview-packs.ts";
export type { RemovedPack } from "./packages/remove-packs.ts";
export { formatAge } from "./publish-times.ts";

export interface ChangeOptions {
  /** Folder whose project is changed; default: the process's. */
  cwd?: string;
  /** For one run of the package manager; default: ten minutes. */
  timeoutMs?: number;
  /** For one answer of the registry; default: a minute. */
  registryTimeoutMs?: number;
  /** How long another process may change the same project; default: five minutes. */
  lockMs?: number;
  /** Ends the package manager; everything is restored then. */
  signal?: AbortSignal;
  /** Is told of each command of the package manager before it runs. */
  onCommand?: (command: string) => void;
  /** Is called once if another process is changing the project, with which: "process 123, which …". */
  onWait?: (what: string) => void;
}

export interface AddOptions extends ChangeOptions {
  /**
   * Is shown what the packs would bring and decides. There is no default: whoever adds packs has asked somebody, or
   * been told not to.
   */
  consent: (previews: readonly PackPreview[]) => boolean | Promise<boolean>;
  /** Add packs whose names are almost those of others that are there; they are shown with a warning. Default: refuse. */
  allowSimilar?: boolean;
}

/** What was done to a project. */
export interface PacksChange {
  /** As discovery finds them now. */
  added: DiscoveredPack[];
  /** As discovery found them before. */
  removed: RemovedPack[];
  /** What there was to know before, and what validation says of the added packs. */
  problems: Problem[];
  /** Consent was refused: nothing was done. */
  declined: boolean;
}

const credentialKey = /(?:^|:)(?:_authToken|_auth|_password|password|key|otp)$/;

/** Takes out of texts what npm's configuration keeps secret, and credentials in addresses. */
async function createRedaction(cwd: string): Promise<(text: string) => string> {
  const { readNpmConfiguration } = await import("./npm-configuration.ts");
  const configuration = readNpmConfiguration({ projectDirectory: cwd, env: process.env });
  const secrets = [...configuration].flatMap(([key, value]) =>
    credentialKey.test(key) && typeof value === "string" && value.length > 3 ? [value] : [],
  );
  return (text) => {
    const withoutAddresses = text.replace(/(\w:\/\/)[^\s/@]+@/g, "$1***@");
    return secrets.reduce((shown, secret) => shown.replaceAll(secret, "***"), withoutAddresses);
  };
}

async function createMeans(options: ChangeOptions, cwd: string): Promise<AddMeans> {
  const {
    timeoutMs = 600_000,
    registryTimeoutMs = 60_000,
    lockMs = 300_000,
    signal,
    onCommand,
    onWait,
  } = options;
  const port = createNodeInspectionPort();
  return {
    port,
    managers: createPackageManagerPort(),
    saveFiles,
    saveEntries,
    async lock(project) {
      try {
        const state = findStateDirectory();
        if (state === undefined) return () => {};
        const locks = join(state, "trailblaze", "locks");
        return await lockProject(locks, project, { waitMs: lockMs, signal, onWait });
      } catch {
        // Without a home, or one that cannot be written, there is nobody else to keep out.
        return () => {};
      }
    },
    redact: await createRedaction(cwd),
    timeoutMs,
    signal,
    onCommand,
    async createPreviewMeans({ manager, program }) {
      const [client, tarballs, means, { readNpmConfiguration }, { findNewestAllowed }] = await Promise.all([
        import("./registry-client.ts"),
        import("./package-tarball.ts"),
        import("./registry-means.ts"),
        import("./npm-configuration.ts"),
        import("./release-age.ts"),
      ]);
      // pnpm and Yarn have settings of their own for this; what they take instead is found out afterwards.
      const projectDirectory = await means.findConfigurationFolder(cwd);
      const configuration =
        manager.name === "npm" ? readNpmConfiguration({ projectDirectory, env: process.env }) : new Map();
      return {
        findNewestAllowed: (name) =>
          findNewestAllowed(configuration, name, {
            now: Date.now(),
            npmVersion: readManagerVersion(program),
          }),
        registry: await means.createRegistryPort(cwd),
        inspection: port,
        escapeName: client.escapePackageName,
        resolveTarball: client.resolveTarball,
        hasIntegrity: tarballs.hasIntegrity,
        unpackTarball: tarballs.unpackTarball,
        maximumTarballBytes: tarballs.maximumTarballBytes,
        timeoutMs: registryTimeoutMs,
        signal,
      };
    },
  };
}

/** What validation says of packs that were just installed. */
async function validateAdded(packs: readonly DiscoveredPack[], cwd: string): Promise<Problem[]> {
  const { validateExtensionWith } = await import("../validate/validate-with.ts");
  const means = createInspectionMeans();
  const problems: Problem[] = [];
  for (const pack of packs) {
    const { report } = await validateExtensionWith(means, pack, { cwd });
    problems.push(...report.problems);
  }
  return problems;
}

/** Throws what `addPacks` would throw of its specs alone: `UnsupportedSpec`, `InvalidArguments`. */
export async function checkSpecs(specs: readonly string[]): Promise<void> {
  const { parseSpecs } = await import("./packages/parse-specs.ts");
  parseSpecs(specs);
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
export async function addPacks(specs: readonly string[], options: AddOptions): Promise<PacksChange> {
  const { parseSpecs } = await import("./packages/parse-specs.ts");
  return addParsed(parseSpecs(specs), options);
}

async function addParsed(specs: readonly RegistrySpec[], options: AddOptions): Promise<PacksChange> {
  const { cwd = process.cwd(), consent, allowSimilar } = options;
  if (typeof consent !== "function")
    throw failure("InvalidArguments", { reason: "Adding packs takes a function `consent`" });
  const { addPacksWith } = await import("./packages/add-packs.ts");
  const means = await createMeans(options, cwd);
  const added = await addPacksWith(means, specs, cwd, { consent, allowSimilar });
  if (added === undefined) return { added: [], removed: [], problems: [], declined: true };
  const { packs, warnings } = added;
  const problems = [...warnings, ...(await validateAdded(packs, cwd))];
  return { added: packs, removed: [], problems, declined: false };
}

/**
 * Removes packs from a project with its own package manager. Restores everything after a failure, as `addPacks`.
 *
 * Throws `TrailblazeError`: `PackNotInstalled`, `ExtensionNotFound`, `UnsupportedSpec`, `InvalidArguments` (a pack that
 * is here because of others), `InstallFailed`, `ProjectNotFound`, `InvalidConfig`.
 */
export async function removePacks(
  names: readonly string[],
  options: ChangeOptions = {},
): Promise<PacksChange> {
  const { cwd = process.cwd() } = options;
  const { removePacksWith } = await import("./packages/remove-packs.ts");
  const removed = await removePacksWith(await createMeans(options, cwd), names, cwd);
  return { added: [], removed, problems: [], declined: false };
}

/** A pack that references ask for, each perhaps in a range. */
export interface MissingPack {
  /** The npm name. */
  name: string;
  ranges: readonly (string | undefined)[];
}

/**
 * Installs those of some packs that are not installed, as `addPacks` does, for who has been allowed to beforehand: by
 * `--install`, or by `packs.autoInstall`. Takes a version that all ranges allow, that of package.json among them if the
 * pack is declared there. What cannot be installed is among the problems, and hides no other.
 */
export async function installMissing(
  packs: readonly MissingPack[],
  options: ChangeOptions &
    Pick<AddOptions, "allowSimilar"> & { onPreview?: (preview: PackPreview) => void } = {},
): Promise<PacksChange> {
  const { cwd = process.cwd(), onPreview } = options;
  const [{ findPacks }, { parseReferredPack }] = await Promise.all([
    import("../discovery/find-packs.ts"),
    import("./packages/parse-specs.ts"),
  ]);
  const port = createNodeInspectionPort();
  const result: PacksChange = { added: [], removed: [], problems: [], declined: false };
  const consent = (previews: readonly PackPreview[]) => {
    for (const preview of previews) onPreview?.(preview);
    return true;
  };
  for (const { name, ranges } of packs) {
    const { resolvePackage } = await findPacks(port, { cwd });
    if (resolvePackage(name) !== undefined) continue;
    try {
      const declared = declaredVersion(findProject(port, cwd).manifest, name);
      const spec = parseReferredPack(name, ranges, declared);
      const { added, problems } = await addParsed([spec], { ...options, cwd, consent });
      result.added.push(...added);
      result.problems.push(...problems);
    } catch (error) {
      if (!(error instanceof TrailblazeError)) throw error;
      result.problems.push({ ...error.problem, pack: name });
    }
  }
  return result;
}
