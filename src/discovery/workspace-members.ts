import { join } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import {
  createJsonSource,
  locateProblems,
  type SourceText,
  type UnlocatedProblem,
} from "../data/source-text.ts";
import {
  type DiscoveryPort,
  type WorkspaceBudget,
  type WorkspaceObstacle,
  workspaceLimits,
} from "../files/discovery-port.ts";
import { createProblem, type Path, type Problem } from "../problems/index.ts";
import type { Manifest } from "./types.ts";

/** A folder that may be the root of a project's workspace. */
interface WorkspaceRoot {
  root: string;
  manifest: Manifest | undefined;
  project: string;
  /** That of the whole search, which is reduced. */
  budget: WorkspaceBudget;
}

/** The patterns of a workspace with their paths in the file that lists them. */
interface Patterns {
  file: "package.json" | "pnpm-workspace.yaml";
  /** The path of the list. */
  top: Path;
  list: { pattern: string; path: Path }[];
  source: SourceText;
}

function readList(value: unknown, top: Path): Pick<Patterns, "list" | "top"> | undefined {
  if (!Array.isArray(value)) return undefined;
  const list = value.flatMap((pattern: unknown, index) =>
    typeof pattern === "string" && pattern !== "" ? [{ pattern, path: [...top, index] }] : [],
  );
  return { list, top };
}

async function parsePnpmFile(bytes: Uint8Array): Promise<Patterns | undefined> {
  const { parseYaml } = await import("../data/parse-yaml.ts");
  try {
    const { text, value, locate } = parseYaml(bytes);
    const read = readList(isRecord(value) ? value.packages : undefined, ["packages"]);
    return (
      read && { ...read, file: "pnpm-workspace.yaml", source: { text, createLocator: async () => locate } }
    );
  } catch {
    // pnpm rejects such a file, too, so it cannot have installed a workspace.
    return undefined;
  }
}

function readField({ text, value: { workspaces } }: Manifest): Patterns | undefined {
  const read = isRecord(workspaces)
    ? readList(workspaces.packages, ["workspaces", "packages"])
    : readList(workspaces, ["workspaces"]);
  return read && { ...read, file: "package.json", source: createJsonSource(text) };
}

/**
 * Finds the members of a workspace by its patterns: those of pnpm's file, or else those of package.json. `undefined` if the
 * folder has no patterns. The problems say why members may be missing.
 */
export async function findMembers(
  port: DiscoveryPort,
  { root, manifest, project, budget }: WorkspaceRoot,
): Promise<{ members: string[] | undefined; problems: Problem[] }> {
  const nameOf = (file: string) => (root === project ? file : join(root, file));
  const problems: Problem[] = [];
  const bytes = port.readProjectFile(root, "pnpm-workspace.yaml");
  const isTooLarge = bytes !== undefined && bytes.length > workspaceLimits.bytes;
  if (isTooLarge) {
    const args = { cause: "bytes", limit: workspaceLimits.bytes } as const;
    problems.push(createProblem("WorkspaceIncomplete", args, { file: nameOf("pnpm-workspace.yaml") }));
  }
  const patterns =
    (bytes === undefined || isTooLarge ? undefined : await parsePnpmFile(bytes)) ??
    (manifest && readField(manifest));
  if (patterns === undefined) return { members: undefined, problems };
  const texts = patterns.list.map(({ pattern }) => pattern);
  const { folders, obstacles } = await port.findWorkspaces(root, texts, budget);
  problems.push(...(await describeObstacles(obstacles, patterns, nameOf(patterns.file))));
  const members = new Set(folders.flatMap((path) => port.realPath(path) ?? []));
  members.delete(root);
  return { members: [...members].sort(), problems };
}

/** Describes one problem per cause, at the first pattern, because there may be thousands. */
async function describeObstacles(
  obstacles: readonly WorkspaceObstacle[],
  { list, top, source }: Patterns,
  file: string,
): Promise<Problem[]> {
  const found: UnlocatedProblem[] = [];
  for (const cause of new Set(obstacles.map((obstacle) => obstacle.cause))) {
    const [first, ...others] = obstacles.filter((obstacle) => obstacle.cause === cause);
    const { pattern, path = top.slice(0, 1) } = list[first?.index ?? -1] ?? {};
    const limit = cause === "patterns" || cause === "folders" ? workspaceLimits[cause] : undefined;
    const args = { cause, limit, pattern, others: others.length, reason: first?.reason };
    found.push({ problem: createProblem("WorkspaceIncomplete", args, { file, path }), source, at: path });
  }
  return locateProblems(found);
}
