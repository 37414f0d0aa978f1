import { isRecord } from "../data/parse-json.ts";
import { describePack } from "../discovery/describe-pack.ts";
import { readUsableManifest } from "../discovery/manifest.ts";
import { installedKeys } from "../discovery/project.ts";
import type { Manifest } from "../discovery/types.ts";
import { inspectionPort as port } from "../files/node-inspection-port.ts";
import { readNpmConfiguration } from "../files/npm-configuration.ts";
import { loadDefinitions } from "../inspection/load-definitions.ts";
import type { InspectedPack } from "../inspection/types.ts";
import { failure, type Problem } from "../problems/index.ts";
import { findReservedCommands, readBins } from "../qualified-names/reserved-commands.ts";
import { explainForeignDependency, type RegistrySpec } from "./parse-specs.ts";
import { createFailure, digestFiles, withPackage } from "./registry/fetch-package.ts";
import { createRegistryClient } from "./registry/registry-client.ts";

const keywords = ["mcp", "mcp-server", "modelcontextprotocol"];
const libraries = ["@modelcontextprotocol/sdk", "@modelcontextprotocol/server", "fastmcp"];

/** By `mcpName`, which the MCP registry requires, a keyword, or a dependency on a library for servers. */
function isDeclaredServer(manifest: Readonly<Record<string, unknown>>): boolean {
  const { mcpName, keywords: own } = manifest;
  if (typeof mcpName === "string" && mcpName !== "") return true;
  if (Array.isArray(own) && keywords.some((keyword) => own.includes(keyword))) return true;
  return installedKeys.some((key) => {
    const dependencies = manifest[key];
    return isRecord(dependencies) && libraries.some((name) => Object.hasOwn(dependencies, name));
  });
}

/** A pack or an MCP server before it is installed, read from its package, with the definitions that are data. */
export interface PackPreview extends InspectedPack {
  spec: RegistrySpec;
  deprecated: string | undefined;
  warnings: Problem[];
  /** Names of its commands if the package is an MCP server and not a pack. */
  serverBins: readonly string[] | undefined;
  /** Of the package's files, by path. */
  digests: ReadonlyMap<string, string>;
}

export interface PreviewOptions {
  /** The timeout of one registry request in milliseconds; default: one minute. */
  registryTimeoutMs?: number;
  signal?: AbortSignal;
  /** Also accepts MCP servers that are not packs: those whose package.json says so, or any package with a command. */
  servers?: "declared" | "any";
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

/** Throws `ReservedCommand` if a package overrides a reserved command. `installedAs`: its name in node_modules. */
export function rejectClaim(manifest: Manifest["value"], installedAs: string, what: string): void {
  const { name = installedAs, version = "" } = manifest;
  const [claim] = findReservedCommands(manifest, name === installedAs ? installedAs : undefined);
  if (claim === undefined) return;
  const { command } = claim;
  throw failure("ReservedCommand", { command, package: `${name} ${version}`.trim(), what });
}

/**
 * Previews packs: fetches their manifests and packages, and reads definitions that are data, without running any code.
 * Throws `TrailblazeError`: `RegistryUnavailable`, `ExtensionNotFound` or with `servers` `NotAPack`, `InstallFailed` (no
 * such version), `ReservedCommand`, `UnsupportedSpec`.
 */
export async function previewPacks(
  directory: string,
  specs: readonly RegistrySpec[],
  { registryTimeoutMs: timeoutMs = 60_000, signal, servers }: PreviewOptions,
): Promise<PackPreview[]> {
  const configuration = readNpmConfiguration({ projectDirectory: directory, env: process.env });
  const client = createRegistryClient(configuration, { mode: "refresh", timeoutMs, signal });

  async function readAnnounced(spec: RegistrySpec, version: string) {
    const address = client.registryOf(spec.name);
    const read = await client.readManifest(address, spec.name, version);
    if (read.state === "read") return read.value;
    if (read.state === "absent") throw createFailure(spec, "the registry has no such version");
    throw failure("RegistryUnavailable", { registry: client.show(address), reason: read.reason });
  }

  async function previewPack(spec: RegistrySpec, folder: string): Promise<PackPreview> {
    const { name } = spec;
    const manifest = readUsableManifest(port, folder);
    if (manifest === undefined) throw createFailure(spec, "its package.json is missing or cannot be read");
    const { value } = manifest;
    const found = await describePack(port, { location: folder, manifest, origin: "direct", name });
    const bins = [...readBins(name, value).keys()];
    if (!found.hasField) {
      if (servers === undefined) throw failure("ExtensionNotFound", { name });
      const hasBin = bins.length > 0;
      if (!hasBin || (servers === "declared" && !isDeclaredServer(value)))
        throw failure("NotAPack", { name, hasBin });
    }
    if (value.name !== name) throw createFailure(spec, "the registry returned a different package");
    const announced = await readAnnounced(spec, String(value.version));
    rejectForeignDependencies(name, value);
    // Package managers use the registry's.
    for (const one of [announced, value]) rejectClaim(one, name, `add ${spec.text}`);
    const { deprecated } = announced;
    return {
      ...(await loadDefinitions(port, found, { dataOnly: true })),
      spec,
      deprecated: typeof deprecated === "string" ? deprecated : undefined,
      warnings: [],
      serverBins: found.hasField ? undefined : bins,
      digests: digestFiles(folder),
    };
  }

  const context = { client, configuration, directory, timeoutMs, signal };
  const previews: PackPreview[] = [];
  for (const spec of specs)
    previews.push(await withPackage(context, spec, (folder) => previewPack(spec, folder)));
  return previews;
}
