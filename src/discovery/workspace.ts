import { dirname, join } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import {
  createJsonSource,
  locateProblems,
  type SourceText,
  type UnlocatedProblem,
} from "../data/source-text.ts";
import { type DiscoveryPort, type WorkspaceObstacle, workspaceLimits } from "../files/discovery-port.ts";
import { createProblem, type Path, type Problem } from "../problems/index.ts";
import { isFault, readManifest } from "./manifest.ts";
import { ancestorsOf, type Project } from "./project.ts";
import type { Manifest } from "./types.ts";

export interface Workspace {
  /** Absolute path of the workspace's root. */
  root: string;
  /** Absolute paths of its packages without the root, sorted. */
  members: string[];
}

/** The patterns of a workspace with their paths in the file that lists them. */
interface Patterns {
  file: "package.json" | "pnpm-workspace.yaml";
  list: { pattern: string; path: Path }[];
  source: SourceText;
}

function readPatterns(value: unknown, path: Path): Patterns["list"] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.flatMap((pattern: unknown, index) =>
    typeof pattern === "string" && pattern !== "" ? [{ pattern, path: [...path, index] }] : [],
  );
}

/** Finds the workspace of one project within one budget, and reports why the result may be incomplete. */
class WorkspaceReader {
  readonly problems: Problem[] = [];
  readonly #port: DiscoveryPort;
  readonly #project: string;
  readonly #budget = { folders: workspaceLimits.folders };

  constructor(port: DiscoveryPort, project: string) {
    this.#port = port;
    this.#project = project;
  }

  /** Whether the budget is spent. */
  get isSpent(): boolean {
    return this.#budget.folders <= 0;
  }

  /** The patterns of a workspace with this root: those of pnpm's file, or else those of package.json. */
  async findPatterns(directory: string, manifest: Manifest | undefined): Promise<Patterns | undefined> {
    const file = "pnpm-workspace.yaml";
    const bytes = this.#port.readProjectFile(directory, file);
    if (bytes !== undefined && bytes.length > workspaceLimits.bytes) {
      const args = { cause: "bytes", limit: workspaceLimits.bytes } as const;
      this.problems.push(createProblem("WorkspaceIncomplete", args, { file: this.#nameOf(directory, file) }));
    } else if (bytes !== undefined) {
      const { parseYaml } = await import("../data/parse-yaml.ts");
      try {
        const { text, value, locate } = parseYaml(bytes);
        const list = readPatterns(isRecord(value) ? value.packages : undefined, ["packages"]);
        if (list !== undefined) return { file, list, source: { text, createLocator: async () => locate } };
      } catch {
        // pnpm rejects such a file, too, so it cannot have installed a workspace.
      }
    }
    const field = manifest?.value.workspaces;
    const list = isRecord(field)
      ? readPatterns(field.packages, ["workspaces", "packages"])
      : readPatterns(field, ["workspaces"]);
    if (list === undefined || manifest === undefined) return undefined;
    return { file: "package.json", list, source: createJsonSource(manifest.text) };
  }

  async findMembers(root: string, patterns: Patterns): Promise<string[]> {
    const texts = patterns.list.map(({ pattern }) => pattern);
    const { folders, obstacles } = await this.#port.findWorkspaces(root, texts, this.#budget);
    await this.#report(root, patterns, obstacles);
    const members = new Set<string>();
    for (const path of folders) {
      const real = this.#port.realPath(path);
      if (real !== undefined && real !== root) members.add(real);
    }
    return [...members].sort();
  }

  /** Reports one problem per cause, at the first pattern, because there may be thousands. */
  async #report(root: string, patterns: Patterns, obstacles: readonly WorkspaceObstacle[]): Promise<void> {
    const byCause = new Map<string, { first: WorkspaceObstacle; others: number }>();
    for (const obstacle of obstacles) {
      const key = `${obstacle.cause} ${obstacle.index !== undefined}`;
      const known = byCause.get(key);
      if (known === undefined) byCause.set(key, { first: obstacle, others: 0 });
      else known.others++;
    }
    const found: UnlocatedProblem[] = [];
    const top = [patterns.file === "package.json" ? "workspaces" : "packages"];
    for (const { first, others } of byCause.values()) {
      const { cause, index, reason } = first;
      const { pattern, path = top } = (index === undefined ? undefined : patterns.list[index]) ?? {};
      const limit = cause === "patterns" || cause === "folders" ? workspaceLimits[cause] : undefined;
      const place = { file: this.#nameOf(root, patterns.file), path };
      const problem = createProblem("WorkspaceIncomplete", { cause, limit, pattern, others, reason }, place);
      found.push({ problem, source: patterns.source, at: path });
    }
    this.problems.push(...(await locateProblems(found)));
  }

  #nameOf(directory: string, file: string): string {
    return directory === this.#project ? file : join(directory, file);
  }
}

const rootFiles = ["package.json", "pnpm-workspace.yaml"];

/**
 * Finds the workspace that a project is the root or a member of, if any, with a problem for each reason why packages may
 * be missing. A root above the project whose files belong to another user does not count: it would add its packs.
 */
export async function searchWorkspace(
  port: DiscoveryPort,
  { directory: project, manifest }: Project,
): Promise<{ workspace: Workspace | undefined; problems: Problem[] }> {
  const reader = new WorkspaceReader(port, project);
  const { problems } = reader;
  const own = await reader.findPatterns(project, manifest);
  if (own !== undefined) {
    return { workspace: { root: project, members: await reader.findMembers(project, own) }, problems };
  }
  const ownFile = join(project, "package.json");
  for (const directory of ancestorsOf(dirname(project))) {
    if (!rootFiles.every((file) => port.isTrusted(join(directory, file), ownFile))) continue;
    const read = port.exists(join(directory, "package.json"))
      ? readManifest(port, directory, "always")
      : "absent";
    const patterns = await reader.findPatterns(
      directory,
      typeof read === "string" || isFault(read) ? undefined : read,
    );
    if (patterns === undefined) continue;
    const members = await reader.findMembers(directory, patterns);
    if (members.includes(project)) return { workspace: { root: directory, members }, problems };
    if (reader.isSpent) break;
  }
  return { workspace: undefined, problems };
}

/** Like `searchWorkspace`, but without problems. */
export async function findWorkspace(port: DiscoveryPort, project: Project): Promise<Workspace | undefined> {
  return (await searchWorkspace(port, project)).workspace;
}
