import { isRecord } from "../data/parse-json.ts";
import { describePack } from "../discovery/describe-pack.ts";
import { readUsableManifest } from "../discovery/manifest.ts";
import { installedKeys } from "../discovery/project.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { readNpmConfiguration } from "../files/npm-configuration.ts";
import { loadDefinitions } from "../inspection/load-definitions.ts";
import type { InspectedPack } from "../inspection/types.ts";
import { failure, type Problem } from "../problems/index.ts";
import { quoteForShell } from "../problems/text.ts";
import { findReservedCommands, readBins } from "../qualified-names/reserved-commands.ts";
import type { ChangeableProject } from "./managers/change-packages.ts";
import { scriptNames } from "./managers/installed-packages.ts";
import { explainForeignDependency, type RegistrySpec } from "./parse-specs.ts";
import { createFailure, digestFiles, type FetchContext, withPackage } from "./registry/fetch-package.ts";
import { createRegistryClient } from "./registry/registry-client.ts";
import { describeRemotePack, type RemotePack } from "./registry/remote-pack.ts";

const keywords = ["mcp", "mcp-server", "modelcontextprotocol"];
const libraries = ["@modelcontextprotocol/sdk", "@modelcontextprotocol/server", "fastmcp"];

/**
 * Whether a package.json shows that the package is an MCP server: it has `mcpName`, which the MCP registry requires, a
 * keyword, or a dependency on a library for servers. Pure.
 */
function isDeclaredServer(manifest: Readonly<Record<string, unknown>>): boolean {
  const { mcpName, keywords: own } = manifest;
  if (typeof mcpName === "string" && mcpName !== "") return true;
  if (Array.isArray(own) && keywords.some((keyword) => own.includes(keyword))) return true;
  return installedKeys.some((key) => {
    const dependencies = manifest[key];
    return isRecord(dependencies) && libraries.some((name) => Object.hasOwn(dependencies, name));
  });
}

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

/** A preview with what it is of. */
export interface PreviewedPack extends PackPreview {
  /** With the definitions that are data. */
  inspected: InspectedPack;
  /** The digests of the package's files, by path. */
  files: ReadonlyMap<string, string>;
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

interface PreviewContext extends FetchContext, Pick<PreviewOptions, "port" | "servers"> {}

/** Reads what the registry says of a version. */
async function readAnnounced({ client }: PreviewContext, spec: RegistrySpec, version: string) {
  const address = client.registryOf(spec.name);
  const read = await client.readManifest(address, spec.name, version);
  if (read.state === "read") return { ...read.value };
  if (read.state === "absent") throw createFailure(spec, "the registry has no such version");
  throw failure("RegistryUnavailable", { registry: client.show(address), reason: read.reason });
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

/** Rejects a pack with dependencies such as git repositories, because fetching them may run code. */
function rejectForeignDependencies(pack: string, manifest: Readonly<Record<string, unknown>>): void {
  for (const key of installedKeys) {
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

/** The commands of a pack's servers. */
const commandsOf = ({ items }: InspectedPack): ServerCommand[] =>
  items
    .filter(({ declaration }) => declaration.kind === "server")
    .map(({ declaration, definition }) => ({
      server: declaration.name,
      command: definition === null ? undefined : describeCommand(definition),
    }));

/** Throws unless a package without a pack is an MCP server that may be added. */
function checkPlainServer({ servers }: PreviewContext, name: string, manifest: Record<string, unknown>) {
  if (servers === undefined) throw failure("ExtensionNotFound", { name });
  const hasBin = readBins(name, manifest).size > 0;
  if (!hasBin || (servers === "declared" && !isDeclaredServer(manifest)))
    throw failure("NotAPack", { name, hasBin });
}

/** Previews the package in a folder. */
async function previewPack(
  context: PreviewContext,
  spec: RegistrySpec,
  folder: string,
): Promise<PreviewedPack> {
  const { name } = spec;
  const manifest = readUsableManifest(context.port, folder);
  if (manifest === undefined) throw createFailure(spec, "its package.json is missing or cannot be read");
  const { value } = manifest;
  const isPack = Object.hasOwn(value, "trailblaze");
  if (!isPack) checkPlainServer(context, name, value);
  const pack = describeRemotePack(name, isPack ? value : { ...value, trailblaze: {} }, false);
  if (pack === undefined) throw createFailure(spec, "the registry returned a different package");
  const announced = await readAnnounced(context, spec, String(value.version));
  rejectForeignDependencies(name, value);
  rejectClaims(spec, announced, value);
  const found = await describePack(context.port, { location: folder, manifest, origin: "direct", name });
  const inspected = await loadDefinitions(context.port, found, { dataOnly: true });
  const { deprecated } = announced;
  return {
    spec,
    pack,
    commands: commandsOf(inspected),
    lifecycleScripts: readScripts(value),
    deprecated: typeof deprecated === "string" ? deprecated : undefined,
    warnings: [],
    serverBins: isPack ? undefined : [...readBins(name, value).keys()],
    inspected,
    files: digestFiles(folder),
  };
}

/**
 * Previews packs: fetches their manifests and packages, and reads definitions that are data, without running any code.
 * Throws `TrailblazeError`: `RegistryUnavailable`, `ExtensionNotFound` or with `servers` `NotAPack`, `InstallFailed` (no
 * such version), `ReservedCommand`, `UnsupportedSpec`.
 */
export async function previewPacks(
  { directory, workspaceRoot = directory }: ChangeableProject,
  specs: readonly RegistrySpec[],
  { port, registryTimeoutMs: timeoutMs = 60_000, signal, servers }: PreviewOptions,
): Promise<PreviewedPack[]> {
  const configuration = readNpmConfiguration({ projectDirectory: workspaceRoot, env: process.env });
  const client = createRegistryClient(configuration, { mode: "refresh", timeoutMs, signal });
  const context = { client, configuration, directory: workspaceRoot, port, timeoutMs, signal, servers };
  const previews: PreviewedPack[] = [];
  for (const spec of specs) {
    previews.push(await withPackage(context, spec, (folder) => previewPack(context, spec, folder)));
  }
  return previews;
}
