import { dirname, join } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import type { DiscoveryPort } from "../io/discovery-port.ts";
import { isFault, readManifest } from "./manifest.ts";
import { ancestorsOf, type Project } from "./project.ts";
import type { Manifest } from "./types.ts";

export interface Workspace {
  /** Absolute path of the workspace's root. */
  root: string;
  /** Absolute paths of its packages, the root not among them, in order. */
  members: string[];
}

function readPatterns(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.filter((pattern): pattern is string => typeof pattern === "string" && pattern !== "");
}

/** The patterns of a workspace whose root is this folder: pnpm's file where it has any, else package.json's. */
async function findPatterns(
  port: DiscoveryPort,
  directory: string,
  manifest: Manifest | undefined,
): Promise<string[] | undefined> {
  const file = port.readProjectFile(directory, "pnpm-workspace.yaml");
  if (file !== undefined) {
    const { parseYaml } = await import("../data/parse-yaml.ts");
    try {
      const { value } = parseYaml(file);
      const patterns = readPatterns(isRecord(value) ? value.packages : undefined);
      if (patterns !== undefined) return patterns;
    } catch {
      // pnpm itself refuses such a file, so it cannot have installed anything by it.
    }
  }
  const field = manifest?.value.workspaces;
  return readPatterns(isRecord(field) ? field.packages : field);
}

async function findMembers(
  port: DiscoveryPort,
  root: string,
  patterns: readonly string[],
): Promise<string[]> {
  const found = await port.findWorkspaces(root, patterns);
  const members = new Set<string>();
  for (const path of found) {
    const real = port.realPath(path);
    if (real !== undefined && real !== root) members.add(real);
  }
  return [...members].sort();
}

/** The workspace that a project is the root or a member of; `undefined` where it stands alone. */
export async function findWorkspace(port: DiscoveryPort, project: Project): Promise<Workspace | undefined> {
  const own = await findPatterns(port, project.directory, project.manifest);
  if (own !== undefined) {
    return { root: project.directory, members: await findMembers(port, project.directory, own) };
  }
  for (const directory of ancestorsOf(dirname(project.directory))) {
    const read = port.exists(join(directory, "package.json"))
      ? readManifest(port, directory, "always")
      : "absent";
    const manifest = typeof read === "string" || isFault(read) ? undefined : read;
    const patterns = await findPatterns(port, directory, manifest);
    if (patterns === undefined) continue;
    const members = await findMembers(port, directory, patterns);
    if (members.includes(project.directory)) return { root: directory, members };
  }
  return undefined;
}
