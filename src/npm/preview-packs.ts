import satisfies from "semver/functions/satisfies.js";
import maxSatisfying from "semver/ranges/max-satisfying.js";
import { isRecord, parseJson } from "../data/parse-json.ts";
import { describePack } from "../discovery/describe-pack.ts";
import { isFault, readManifest } from "../discovery/manifest.ts";
import { findPackageClaims } from "../discovery/package-commands.ts";
import type { FoundPack } from "../discovery/types.ts";
import { parseExtension } from "../extension-schema/index.ts";
import { maximumManifestBytes } from "../files/discovery-port.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { readNpmConfiguration } from "../files/npm-configuration.ts";
import { loadDefinitions } from "../inspection/load-definitions.ts";
import { createDefinitionFilter } from "../inspection/locate-definitions.ts";
import { keyOfKind, kinds } from "../kinds.ts";
import { createProblem, failure, type Problem } from "../problems/index.ts";
import { findReservedCommand } from "../qualified-names/reserved-commands.ts";
import type { ChangeableProject } from "./managers/change-packages.ts";
import { readManagerVersion } from "./managers/package-manager.ts";
import { explainForeignDependency, type RegistrySpec } from "./parse-specs.ts";
import { hasIntegrity, maximumTarballBytes, unpackTarball } from "./registry/package-tarball.ts";
import { findPublished, formatAge, isOldEnough } from "./registry/publish-times.ts";
import { TarballLimitError } from "./registry/read-tar.ts";
import {
  createRegistryClient,
  escapePackageName,
  type RegistryClient,
  type RegistryRequest,
  resolveTarball,
} from "./registry/registry-client.ts";
import { findNewestAllowed } from "./registry/release-age.ts";
import {
  describeRemotePack,
  findVersion,
  maximumPackumentBytes,
  type RemotePack,
} from "./registry/remote-pack.ts";

/** A command that a server of a pack is started with; `null` where it is the host that serves the pack's own tools. */
export interface ServerCommand {
  server: string;
  /** `undefined` where the definition is code, which is not run to look at it. */
  command: string | null | undefined;
}

/** What a pack would bring, read from the package that would be installed. */
export interface PackPreview {
  spec: RegistrySpec;
  pack: RemotePack;
  commands: ServerCommand[];
  /** Scripts that npm would run while installing, which are not run. */
  lifecycleScripts: { name: string; command: string }[];
  deprecated: string | undefined;
  /** When this version was published, in ISO 8601; `undefined` where the registry does not tell. */
  published: string | undefined;
  /** What to think of before agreeing. */
  warnings: Problem[];
}

export interface PreviewOptions {
  port: InspectionPort;
  /** For one answer of the registry; default: a minute. */
  registryTimeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

interface PreviewContext {
  client: RegistryClient;
  port: InspectionPort;
  /** Up to when a version must have been published for the package manager to take it, in milliseconds since 1970. */
  findNewestAllowed(name: string): number | undefined;
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

const scriptNames = ["preinstall", "install", "postinstall"];

const refuse = (spec: RegistrySpec, reason: string) =>
  failure("InstallFailed", { what: `add ${spec.text}`, reason });

/** One answer of the registry; `undefined` where there is none of that name. Nothing comes from a cache here. */
async function ask(
  { client, timeoutMs, signal }: PreviewContext,
  request: Pick<RegistryRequest, "address" | "path" | "maximumBytes">,
): Promise<Uint8Array | undefined> {
  const answer = await client.get({ ...request, accept: "*/*", timeoutMs, signal });
  if (answer.state === "read") return answer.bytes;
  if (answer.state === "absent") return undefined;
  const reason = answer.state === "failed" ? answer.reason : "wants to be asked later (429)";
  throw failure("RegistryUnavailable", { registry: client.show(request.address), reason });
}

async function askJson(context: PreviewContext, address: string, path: string, maximumBytes: number) {
  const bytes = await ask(context, { address, path, maximumBytes });
  if (bytes === undefined) return undefined;
  try {
    return parseJson(bytes).value;
  } catch {
    const registry = context.client.show(address);
    throw failure("RegistryUnavailable", { registry, reason: "sends what is no JSON" });
  }
}

/**
 * The version that package managers would take: what is tagged as the latest, if it is in the range, else the highest;
 * of those that are old enough.
 */
function pickVersion(packument: unknown, range: string, newestAllowed: number | undefined): unknown {
  const isAllowed = (one: string) => isOldEnough(packument, one, newestAllowed);
  const latest = findVersion(packument, "latest");
  const version = isRecord(latest) ? latest.version : undefined;
  if (typeof version === "string" && satisfies(version, range, { loose: true }) && isAllowed(version))
    return latest;
  const versions = isRecord(packument) && isRecord(packument.versions) ? packument.versions : {};
  const isCurrent = (one: string) => !(isRecord(versions[one]) && versions[one].deprecated);
  const names = Object.keys(versions).filter(isAllowed);
  const best =
    maxSatisfying(names.filter(isCurrent), range, { loose: true }) ??
    maxSatisfying(names, range, { loose: true });
  return best === null ? undefined : findVersion(packument, best);
}

/** The version that a tag stands for, or a version; where a tag's is too new, the highest below it. */
function pickTagged(packument: unknown, wanted: string, newestAllowed: number | undefined): unknown {
  const tagged = findVersion(packument, wanted);
  const version = isRecord(tagged) ? tagged.version : undefined;
  if (typeof version !== "string" || version === wanted || isOldEnough(packument, version, newestAllowed))
    return tagged;
  return pickVersion(packument, `<=${version}`, newestAllowed);
}

/** The registry's manifest of what a spec means, and what else it knows of the package, if that had to be asked for. */
async function findManifest(
  context: PreviewContext,
  spec: RegistrySpec,
): Promise<{ manifest: Record<string, unknown>; packument: unknown }> {
  const { name, wanted, type } = spec;
  const address = context.client.registryOf(name);
  const path = escapePackageName(name);
  const newestAllowed = context.findNewestAllowed(name);
  const short =
    type === "range" || newestAllowed !== undefined
      ? undefined
      : await askJson(context, address, `${path}/${encodeURIComponent(wanted)}`, maximumManifestBytes);
  let manifest = short;
  let packument: unknown;
  if (manifest === undefined) {
    packument = await askJson(context, address, path, maximumPackumentBytes);
    if (packument === undefined) {
      throw refuse(spec, `the registry ${context.client.show(address)} has no package of that name`);
    }
    manifest =
      type === "range"
        ? pickVersion(packument, wanted, newestAllowed)
        : pickTagged(packument, wanted, newestAllowed);
  }
  if (!isRecord(manifest)) throw refuse(spec, "the registry has no such version of it");
  if (manifest.name !== name || typeof manifest.version !== "string")
    throw refuse(spec, "the registry answers with another package");
  return { manifest, packument };
}

/** With more than this, a registry's document of a package is not asked for just to tell how old a version is. */
const maximumBytesForAge = 16 << 20;

/** When a version was published, as far as the registry tells. */
async function findAge(context: PreviewContext, name: string, version: string, known: unknown) {
  const address = context.client.registryOf(name);
  try {
    const packument = known ?? (await askJson(context, address, escapePackageName(name), maximumBytesForAge));
    return findPublished(packument, version);
  } catch {
    return undefined;
  }
}

const dayMs = 86_400_000;

function warnOfAge(name: string, version: string, published: string | undefined): Problem[] {
  const ageMs = published === undefined ? dayMs : Date.now() - Date.parse(published);
  if (published === undefined || ageMs >= dayMs) return [];
  const args = { name, version, age: formatAge(published, Date.now()) };
  return [createProblem("RecentlyPublished", args, { pack: name })];
}

/** The package itself, verified to be what the manifest announces. */
async function fetchPackage(context: PreviewContext, spec: RegistrySpec, manifest: Record<string, unknown>) {
  const dist = isRecord(manifest.dist) ? manifest.dist : {};
  const registry = context.client.registryOf(spec.name);
  const address = typeof dist.tarball === "string" ? resolveTarball(dist.tarball, registry) : undefined;
  if (address === undefined) throw refuse(spec, "the registry does not say where the package itself is");
  const tarball = await ask(context, { address, path: "", maximumBytes: maximumTarballBytes });
  if (tarball === undefined) throw refuse(spec, "the registry does not have the package itself");
  const isIntact = hasIntegrity(tarball, dist.integrity, dist.shasum);
  if (isIntact === false) throw refuse(spec, "what the registry sends is not what it announced (integrity)");
  const { extension } = parseExtension(manifest.trailblaze);
  const definesServer = createDefinitionFilter(extension, "server");
  // `directories.bin` makes commands of the files in a folder, whose names are all that is looked at.
  const isCommand = (file: string) =>
    findReservedCommand(file) !== undefined && !file.includes("node_modules/");
  try {
    return await unpackTarball(
      tarball,
      (file) => file === "package.json" || definesServer(file) || isCommand(file),
      context.signal,
    );
  } catch (error) {
    if (context.signal?.aborted) throw refuse(spec, "it was interrupted");
    if (error instanceof TarballLimitError) throw refuse(spec, `its tarball ${error.message}`);
    throw refuse(spec, "what the registry sends is no package");
  }
}

function describeCommand(definition: Record<string, unknown>): string | null {
  const { command, script, args, cwd } = definition;
  const program =
    typeof script === "string" ? ["node", script] : typeof command === "string" ? [command] : [];
  if (program.length === 0) return null;
  const words = [...program, ...(Array.isArray(args) ? args.map(String) : [])];
  const line = words.map((word) => (/^[\w@%+=:,./\\-]+$/.test(word) ? word : JSON.stringify(word))).join(" ");
  return typeof cwd === "string" ? `${line} (in ${cwd})` : line;
}

function readScripts(manifest: Readonly<Record<string, unknown>>) {
  const scripts = isRecord(manifest.scripts) ? manifest.scripts : {};
  return scriptNames.flatMap((name) => {
    const command = Object.hasOwn(scripts, name) ? scripts[name] : undefined;
    return typeof command === "string" ? [{ name, command }] : [];
  });
}

const dependencyKeys = ["dependencies", "optionalDependencies", "peerDependencies"];

/** A pack that would bring a git repository or the like brings what fetching it may run: refused as if it were asked for. */
function refuseForeignDependencies(pack: string, manifest: Readonly<Record<string, unknown>>): void {
  for (const key of dependencyKeys) {
    const dependencies = isRecord(manifest[key]) ? manifest[key] : {};
    for (const [name, wanted] of Object.entries(dependencies)) {
      const reason = explainForeignDependency(name, wanted);
      if (reason === undefined) continue;
      const spec = `${name}@${String(wanted)}`;
      throw failure("UnsupportedSpec", { spec, reason: `${reason}, which ${pack} depends on` });
    }
  }
}

/**
 * A pack that takes over a command is not installed: neither as the registry announces it, which is what package managers
 * go by, nor as it is.
 */
function refuseClaims(
  { port }: PreviewContext,
  spec: RegistrySpec,
  announced: Record<string, unknown>,
  { folder, manifest }: { folder: string; manifest: Readonly<Record<string, unknown>> },
): void {
  const claims = [announced, manifest].flatMap((one) => findPackageClaims(port, folder, one, spec.name));
  const [claim] = claims;
  if (claim === undefined) return;
  const { path: _, ...args } = claim;
  const version = String(announced.version);
  throw failure(
    "ReservedCommand",
    { ...args, package: `${spec.name} ${version}`, what: `add ${spec.text}` },
    { pack: spec.name },
  );
}

/** The names of a pack's items, for comparing what was announced with what came. */
export function namesOfItems(pack: Pick<RemotePack, "servers" | "tools" | "toolsets" | "prompts">): string {
  return JSON.stringify(kinds.map((kind) => pack[keyOfKind[kind]].map(({ name }) => name).sort()));
}

const noCode = () => Promise.reject(new Error("Code is not evaluated to look at a pack"));

/** What a pack's servers are started with. Data only: none of its code is run. */
export async function readCommands(port: InspectionPort, found: FoundPack): Promise<ServerCommand[]> {
  const only = found.extension.servers;
  const { items } = await loadDefinitions(port, found, { dataOnly: true, only, createEvaluator: noCode });
  return items.map(({ declaration, definition }) => ({
    server: declaration.name,
    command: definition === null ? undefined : describeCommand(definition),
  }));
}

async function previewPack(context: PreviewContext, spec: RegistrySpec): Promise<PackPreview> {
  const { manifest: announced, packument } = await findManifest(context, spec);
  const { name } = spec;
  const announcedPack = describeRemotePack(name, announced, false);
  if (announcedPack === undefined) throw failure("ExtensionNotFound", { name, inRegistry: true });
  const version = String(announced.version);
  const published = await findAge(context, name, version, packument);
  const unpacked = await fetchPackage(context, spec, announced);
  try {
    const manifest = readManifest(context.port, unpacked.folder, "always");
    if (typeof manifest === "string" || isFault(manifest))
      throw refuse(spec, "the package has no package.json that can be read");
    const pack = describeRemotePack(name, manifest.value, false);
    const isSame =
      pack !== undefined &&
      pack.version === announced.version &&
      namesOfItems(pack) === namesOfItems(announcedPack);
    if (!isSame) throw refuse(spec, "the package is not what the registry says of it");
    refuseForeignDependencies(name, manifest.value);
    refuseClaims(context, spec, announced, { folder: unpacked.folder, manifest: manifest.value });
    const found = await describePack(unpacked.folder, manifest, "direct", [name]);
    // Definitions were looked for where the registry says that they are.
    if (found.extension.root !== parseExtension(announced.trailblaze).extension.root)
      throw refuse(spec, "the package is not what the registry says of it");
    const commands = await readCommands(context.port, found);
    const { deprecated } = announced;
    return {
      spec,
      pack,
      commands,
      lifecycleScripts: readScripts(manifest.value),
      deprecated: typeof deprecated === "string" ? deprecated : undefined,
      published,
      warnings: warnOfAge(name, version, published),
    };
  } finally {
    unpacked.remove();
  }
}

/**
 * Reads from the registry what packs would bring, and fetches the packages themselves to see what their definitions
 * say: data only, no code of theirs is run. Throws `TrailblazeError`: `RegistryUnavailable`, `ExtensionNotFound`,
 * `InstallFailed` (no such version, not what was announced).
 */
export async function previewPacks(
  { directory, workspaceRoot = directory, manager, program }: ChangeableProject,
  specs: readonly RegistrySpec[],
  { port, registryTimeoutMs: timeoutMs = 60_000, signal }: PreviewOptions,
): Promise<PackPreview[]> {
  const configuration = readNpmConfiguration({ projectDirectory: workspaceRoot, env: process.env });
  // pnpm and Yarn have settings of their own for this; what they take instead is found out afterwards.
  const ofManager = manager.name === "npm" ? configuration : new Map();
  const limits = { now: Date.now(), npmVersion: readManagerVersion(program) };
  const context: PreviewContext = {
    client: createRegistryClient(configuration),
    port,
    findNewestAllowed: (name) => findNewestAllowed(ofManager, name, limits),
    timeoutMs,
    signal,
  };
  const previews: PackPreview[] = [];
  for (const spec of specs) previews.push(await previewPack(context, spec));
  return previews;
}
