import { isRecord, parseJson } from "../data/parse-json.ts";
import { describePack } from "../discovery/describe-pack.ts";
import { isFault, readManifest } from "../discovery/manifest.ts";
import type { FoundPack } from "../discovery/types.ts";
import { parseExtension } from "../extension-schema/index.ts";
import { maximumManifestBytes } from "../files/discovery-port.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { readNpmConfiguration } from "../files/npm-configuration.ts";
import { loadDefinitions } from "../inspection/load-definitions.ts";
import { createDefinitionFilter } from "../inspection/locate-definitions.ts";
import { readBins } from "../inspection/server-package.ts";
import { type KindKey, keyOfKind, kinds } from "../kinds.ts";
import { failure, type Problem } from "../problems/index.ts";
import { quoteForShell } from "../problems/text.ts";
import { findReservedCommands } from "../qualified-names/reserved-commands.ts";
import { isDeclaredServer } from "./declared-server.ts";
import type { ChangeableProject } from "./managers/change-packages.ts";
import { readManagerVersion } from "./managers/package-manager.ts";
import { explainForeignDependency, type RegistrySpec } from "./parse-specs.ts";
import { hasIntegrity, maximumTarballBytes, unpackTarball } from "./registry/package-tarball.ts";
import { pickTagged, pickVersion, supportsEngine } from "./registry/pick-version.ts";
import { TarballLimitError } from "./registry/read-tar.ts";
import {
  createRegistryClient,
  escapePackageName,
  type RegistryClient,
  type RegistryRequest,
  resolveTarball,
} from "./registry/registry-client.ts";
import { findNewestAllowed } from "./registry/release-age.ts";
import { describeRemotePack, maximumPackumentBytes, type RemotePack } from "./registry/remote-pack.ts";

/** The command of a pack's server; `null` for a composed server, which the host runs itself. */
export interface ServerCommand {
  server: string;
  /** `undefined` if the definition is code, which is not evaluated for a preview. */
  command: string | null | undefined;
}

/** The contents of a pack before it is installed, read from its package. */
export interface PackPreview {
  spec: RegistrySpec;
  pack: RemotePack;
  commands: ServerCommand[];
  /** Install scripts, which are not run. */
  lifecycleScripts: { name: string; command: string }[];
  deprecated: string | undefined;
  /** Warnings to consider before installing. */
  warnings: Problem[];
  /** Names of its commands if the package is an MCP server and not a pack. */
  serverBins?: readonly string[];
}

export interface PreviewOptions {
  port: InspectionPort;
  /** The timeout of one registry request in milliseconds; default: one minute. */
  registryTimeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /**
   * Also accept MCP servers that are not packs: those whose package.json says so, or any package with a command. Default:
   * only packs.
   */
  servers?: "declared" | "any" | undefined;
}

interface PreviewContext extends Pick<PreviewOptions, "servers"> {
  client: RegistryClient;
  port: InspectionPort;
  /** The latest publication time that the package manager allows, in milliseconds since 1970. */
  findNewestAllowed(name: string): number | undefined;
  /** Whether the package manager prefers versions that support this Node.js, as npm does. */
  prefersEngines: boolean;
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

const scriptNames = ["preinstall", "install", "postinstall"];

const createFailure = (spec: RegistrySpec, reason: string) =>
  failure("InstallFailed", { what: `add ${spec.text}`, reason });

/** Sends a request to a registry, without the cache. Returns `undefined` if the document does not exist. */
async function fetchBytes(
  { client, timeoutMs, signal }: PreviewContext,
  request: Pick<RegistryRequest, "address" | "path" | "maximumBytes">,
): Promise<Uint8Array | undefined> {
  const answer = await client.get({ ...request, accept: "*/*", timeoutMs, signal });
  if (answer.state === "read") return answer.bytes;
  if (answer.state === "absent") return undefined;
  const reason = answer.state === "failed" ? answer.reason : "is rate-limiting requests (429)";
  throw failure("RegistryUnavailable", { registry: client.show(request.address), reason });
}

async function fetchJson(context: PreviewContext, address: string, path: string, maximumBytes: number) {
  const bytes = await fetchBytes(context, { address, path, maximumBytes });
  if (bytes === undefined) return undefined;
  try {
    return parseJson(bytes).value;
  } catch {
    const registry = context.client.show(address);
    throw failure("RegistryUnavailable", { registry, reason: "sent an invalid JSON response" });
  }
}

/** Fetches the manifest for a spec. */
async function findManifest(context: PreviewContext, spec: RegistrySpec): Promise<Record<string, unknown>> {
  const { name, wanted, type } = spec;
  const address = context.client.registryOf(name);
  const path = escapePackageName(name);
  const limits = {
    newestAllowed: context.findNewestAllowed(name),
    prefersEngines: context.prefersEngines,
  };
  const short =
    type === "range" || limits.newestAllowed !== undefined
      ? undefined
      : await fetchJson(context, address, `${path}/${encodeURIComponent(wanted)}`, maximumManifestBytes);
  // npm reads a bare name as any version, preferably the latest: it takes an older one if that supports this Node.js.
  const isBare = spec.text === name;
  let manifest = isBare && limits.prefersEngines && !supportsEngine(short) ? undefined : short;
  if (manifest === undefined) {
    const packument = await fetchJson(context, address, path, maximumPackumentBytes);
    if (packument === undefined) {
      throw createFailure(spec, `the registry ${context.client.show(address)} has no such package`);
    }
    manifest =
      type === "range"
        ? pickVersion(packument, wanted, limits)
        : isBare && limits.prefersEngines
          ? pickVersion(packument, "*", limits)
          : pickTagged(packument, wanted, limits);
  }
  if (!isRecord(manifest)) throw createFailure(spec, "the registry has no such version");
  if (manifest.name !== name || typeof manifest.version !== "string")
    throw createFailure(spec, "the registry returned a different package");
  return manifest;
}

/** Fetches and unpacks a package, and verifies its integrity. */
async function fetchPackage(context: PreviewContext, spec: RegistrySpec, manifest: Record<string, unknown>) {
  const dist = isRecord(manifest.dist) ? manifest.dist : {};
  const registry = context.client.registryOf(spec.name);
  const address = typeof dist.tarball === "string" ? resolveTarball(dist.tarball, registry) : undefined;
  if (address === undefined)
    throw createFailure(spec, "the registry's manifest has no valid tarball address");
  const tarball = await fetchBytes(context, { address, path: "", maximumBytes: maximumTarballBytes });
  if (tarball === undefined) throw createFailure(spec, "the registry does not have its tarball");
  const isIntact = hasIntegrity(tarball, dist.integrity, dist.shasum);
  if (isIntact === false)
    throw createFailure(spec, "its tarball does not match the integrity hash in the registry");
  const { extension } = parseExtension(manifest.trailblaze);
  const definesServer = createDefinitionFilter(extension, "server");
  try {
    return await unpackTarball(
      tarball,
      (file) => file === "package.json" || definesServer(file),
      context.signal,
    );
  } catch (error) {
    if (context.signal?.aborted) throw createFailure(spec, "it was interrupted");
    if (error instanceof TarballLimitError) throw createFailure(spec, `its tarball ${error.message}`);
    throw createFailure(spec, "its tarball is not a valid package");
  }
}

function describeCommand(definition: Record<string, unknown>): string | null {
  const { command, script, package: name, bin, args, cwd } = definition;
  const program =
    typeof script === "string"
      ? ["node", script]
      : [command, name, bin].filter((word) => typeof word === "string");
  if (program.length === 0) return null;
  const words = [...program, ...(Array.isArray(args) ? args.map(String) : [])];
  const line = words.map(quoteForShell).join(" ");
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

/** Rejects a pack with dependencies such as git repositories, because fetching them may run code. */
function rejectForeignDependencies(pack: string, manifest: Readonly<Record<string, unknown>>): void {
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
 * Rejects a pack that overrides a reserved command, according to the registry's manifest, which package managers use, or
 * to the package itself.
 */
function rejectClaims(
  spec: RegistrySpec,
  announced: Record<string, unknown>,
  manifest: Readonly<Record<string, unknown>>,
): void {
  const claims = [announced, manifest].flatMap((one) => findReservedCommands(one, spec.name));
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

/** What a preview shows of the field, for comparing the registry's manifest with the package. */
export function digestPack(pack: Pick<RemotePack, KindKey | "needs">): string {
  const names = kinds.map((kind) => pack[keyOfKind[kind]].map(({ name }) => name).sort());
  return JSON.stringify([names, pack.needs]);
}

const noCode = () => Promise.reject(new Error("Previews do not evaluate code"));

/** Reads the commands of a pack's servers. Does not evaluate definitions that are code. */
export async function readCommands(port: InspectionPort, found: FoundPack): Promise<ServerCommand[]> {
  const only = found.extension.servers;
  const { items } = await loadDefinitions(port, found, { dataOnly: true, only, createEvaluator: noCode });
  return items.map(({ declaration, definition }) => ({
    server: declaration.name,
    command: definition === null ? undefined : describeCommand(definition),
  }));
}

/** Describes a package like a pack without items if it is an MCP server. Throws for other packages. */
function describePlainServer({ servers }: PreviewContext, name: string, manifest: Record<string, unknown>) {
  if (servers === undefined) throw failure("ExtensionNotFound", { name, inRegistry: true });
  const hasBin = readBins(name, manifest).size > 0;
  if (!hasBin || (servers === "declared" && !isDeclaredServer(manifest)))
    throw failure("NotAPack", { name, hasBin });
  return describeRemotePack(name, { ...manifest, trailblaze: {} }, false);
}

async function previewPack(context: PreviewContext, spec: RegistrySpec): Promise<PackPreview> {
  const { name } = spec;
  const announced = await findManifest(context, spec);
  const isPack = Object.hasOwn(announced, "trailblaze");
  const describe = (manifest: Record<string, unknown>) =>
    Object.hasOwn(manifest, "trailblaze") || isPack
      ? describeRemotePack(name, manifest, false)
      : describePlainServer(context, name, manifest);
  const announcedPack = describe(announced);
  if (announcedPack === undefined) throw failure("ExtensionNotFound", { name, inRegistry: true });
  const _version = String(announced.version);
  const unpacked = await fetchPackage(context, spec, announced);
  try {
    const manifest = readManifest(context.port, unpacked.folder, "always");
    if (typeof manifest === "string" || isFault(manifest))
      throw createFailure(spec, "its package.json is missing or cannot be read");
    const pack = describe({ ...manifest.value });
    const isSame =
      pack !== undefined &&
      Object.hasOwn(manifest.value, "trailblaze") === isPack &&
      pack.version === announced.version &&
      digestPack(pack) === digestPack(announcedPack);
    if (!isSame) throw createFailure(spec, "the package differs from the registry's manifest");
    rejectForeignDependencies(name, manifest.value);
    rejectClaims(spec, announced, manifest.value);
    const found = await describePack(unpacked.folder, manifest, "direct", [name]);
    // Definitions were unpacked according to the root in the registry's manifest.
    if (found.extension.root !== parseExtension(announced.trailblaze).extension.root)
      throw createFailure(spec, "the package differs from the registry's manifest");
    const commands = await readCommands(context.port, found);
    const { deprecated } = announced;
    return {
      spec,
      pack,
      commands,
      lifecycleScripts: readScripts(manifest.value),
      deprecated: typeof deprecated === "string" ? deprecated : undefined,
      warnings: [],
      ...(isPack ? {} : { serverBins: [...readBins(name, manifest.value).keys()] }),
    };
  } finally {
    unpacked.remove();
  }
}

/**
 * Previews packs: fetches their manifests and packages, and reads definitions that are data, without running any code.
 * Throws `TrailblazeError`: `RegistryUnavailable`, `ExtensionNotFound` or with `servers` `NotAPack`, `InstallFailed` (no
 * such version, or the package differs from the manifest), `ReservedCommand`, `UnsupportedSpec`.
 */
export async function previewPacks(
  { directory, workspaceRoot = directory, manager, program }: ChangeableProject,
  specs: readonly RegistrySpec[],
  { port, registryTimeoutMs: timeoutMs = 60_000, signal, servers }: PreviewOptions,
): Promise<PackPreview[]> {
  const configuration = readNpmConfiguration({ projectDirectory: workspaceRoot, env: process.env });
  // pnpm and Yarn have their own settings; a different version is detected after the installation.
  const ofManager = manager.name === "npm" ? configuration : new Map();
  const limits = { now: Date.now(), npmVersion: readManagerVersion(program) };
  const context: PreviewContext = {
    client: createRegistryClient(configuration),
    port,
    findNewestAllowed: (name) => findNewestAllowed(ofManager, name, limits),
    prefersEngines: manager.name === "npm",
    timeoutMs,
    signal,
    servers,
  };
  const previews: PackPreview[] = [];
  for (const spec of specs) previews.push(await previewPack(context, spec));
  return previews;
}
