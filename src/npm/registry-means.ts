import { join } from "node:path";
import { findProject } from "../discovery/project.ts";
import { findWorkspace } from "../discovery/workspace.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { TrailblazeError } from "../problems/index.ts";
import { readNpmConfiguration } from "./npm-configuration.ts";
import { toFetchOptions } from "./npm-fetch-options.ts";
import { createRegistryClient } from "./registry-client.ts";
import type { RegistryPort } from "./registry-port.ts";
import { createResponseCache, findCacheDirectory, noCache, type ResponseCache } from "./response-cache.ts";

/** The folder whose .npmrc counts for a project: its workspace's root, if it has one. */
export async function findConfigurationFolder(cwd: string): Promise<string | undefined> {
  const port = createNodeDiscoveryPort();
  try {
    const project = findProject(port, cwd);
    return (await findWorkspace(port, project))?.root ?? project.directory;
  } catch (error) {
    // One can look around without a project.
    if (error instanceof TrailblazeError) return undefined;
    throw error;
  }
}

/** The registries of the user's npm configuration, as it counts in a folder. */
export async function createRegistryPort(cwd: string): Promise<RegistryPort> {
  const projectDirectory = await findConfigurationFolder(cwd);
  return createRegistryClient(toFetchOptions(readNpmConfiguration({ projectDirectory, env: process.env })));
}

/** The cache of registries' answers, in the user's folder of caches. */
export function createRegistryCache(): ResponseCache {
  const folder = findCacheDirectory();
  return folder === undefined ? noCache : createResponseCache(join(folder, "trailblaze", "registry"));
}
