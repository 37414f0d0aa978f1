import { join } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import type { parseYaml } from "../data/parse-yaml.ts";
import { locateProblems } from "../data/source-text.ts";
import { type DiscoveryPort, workspaceLimits } from "../files/discovery-port.ts";
import { createProblem, type Path, type Problem, type ProblemArguments } from "../problems/index.ts";
import type { Manifest } from "./types.ts";
import type { Workspace } from "./workspace.ts";

/** How many folders a search may still read; it reduces the number. */
type Budget = { folders: number };

const pnpmName = "pnpm-workspace.yaml";

/** Patterns of pnpm's file or of package.json, and where they are listed. */
function findPatterns(pnpmFile: ReturnType<typeof parseYaml> | undefined, manifest: Manifest | undefined) {
  const { value, text = "" } = pnpmFile ?? {};
  const ofPnpm = isRecord(value) ? value.packages : undefined;
  if (Array.isArray(ofPnpm))
    return { list: ofPnpm, file: pnpmName, path: ["packages"], source: { text, format: "yaml" } as const };
  const workspaces = manifest?.value.workspaces;
  const list = isRecord(workspaces) ? workspaces.packages : workspaces;
  const path = list === workspaces ? ["workspaces"] : ["workspaces", "packages"];
  const source = { text: manifest?.text ?? "", format: "json" } as const;
  return Array.isArray(list) ? { list, file: "package.json", path, source } : undefined;
}

/** Groups, classes, ranges and quantifiers, which few package managers have, and three wildcards in a segment. */
const exoticSyntax = /[@!*?]\(|[[|+]|\.\.[^/{}]*\}|(?:\*+[^/*]+){2}\*/;

/** The patterns without braces that a pattern stands for; `undefined` for one that is not supported. */
function expandPattern(pattern: string): string[] | undefined {
  if (pattern.length > 1024 || exoticSyntax.test(pattern)) return undefined;
  let expanded = [pattern];
  for (;;) {
    const next = expanded.flatMap((one) => {
      const [group = "", alternatives = ""] = /\{([^{}]*,[^{}]*)\}/.exec(one) ?? [];
      return alternatives.split(",").map((each) => one.replace(group, () => each));
    });
    if (next.length === expanded.length)
      return next.every((one) => one.split("**").length <= 3) ? next : undefined;
    if (next.length > workspaceLimits.alternatives) return undefined;
    expanded = next;
  }
}

/** Matches the names that a segment with wildcards stands for. */
function compileSegment(segment: string): RegExp {
  const escaped = segment.replace(/[\\^$.(){}\]]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replace(/\*+/g, ".*").replaceAll("?", ".")}$`, "su");
}

/** The real paths of the folders that a path with wildcards leads to, as far as the budget goes. */
function findFolders(port: DiscoveryPort, budget: Budget, root: string, path: readonly string[]): string[] {
  const next = (folder: string, segment: string): string[] => {
    if (--budget.folders < 0) return [];
    const resolve = (name: string) => port.realPath(join(folder, name)) ?? [];
    if (!/[*?]/.test(segment)) return [resolve(segment)].flat();
    const entries = (port.listDirectory(folder) ?? []).filter(
      (entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !/^\.|^node_modules$/.test(entry.name),
    );
    budget.folders -= entries.length;
    if (budget.folders < 0) entries.splice(budget.folders);
    // The folder and all below it that no links lead to.
    const descend = (name: string) => next(join(folder, name), segment);
    if (segment === "**")
      return [folder, ...entries.flatMap((entry) => (entry.isDirectory() ? descend(entry.name) : []))];
    const pattern = compileSegment(segment);
    return entries.flatMap(({ name }) => (pattern.test(name) ? resolve(name) : []));
  };
  const follow = (folders: string[], segment: string) => [
    ...new Set(folders.flatMap((folder) => next(folder, segment))),
  ];
  return path.reduce(follow, [root]);
}

/** Finds the folders with a package.json that patterns match, and the indexes of patterns that are not supported. */
export function findWorkspaces(
  port: DiscoveryPort,
  root: string,
  patterns: readonly unknown[],
  budget: Budget,
): { folders: string[]; skipped: number[] } {
  const skipped: number[] = [];
  const [included, excluded] = [new Set<string>(), new Set<string>()];
  for (const [index, written] of patterns.entries()) {
    if (typeof written !== "string" || budget.folders < 0) continue;
    const isException = written.startsWith("!");
    const expanded = expandPattern(written);
    if (expanded === undefined) skipped.push(index);
    for (const path of expanded ?? []) {
      const named = isException ? path.slice(1) : path;
      const segments = named.split("/").filter((segment) => segment !== "" && segment !== ".");
      if (segments.includes("node_modules")) continue;
      for (const folder of findFolders(port, budget, root, segments))
        (isException ? excluded : included).add(folder);
    }
  }
  for (const folder of [root, ...excluded]) included.delete(folder);
  const folders = [...included].filter((one) => port.exists(join(one, "package.json")));
  return { folders: folders.sort(), skipped };
}

/**
 * Finds the members of a workspace by its patterns: those of pnpm's file, or else those of package.json. `undefined` if the
 * folder has no patterns. The problems say why members may be missing. `permissions`: those of pnpm's file, `null` if it cannot be
 * read.
 */
export async function findMembers(
  port: DiscoveryPort,
  { root, manifest, project }: { root: string; manifest: Manifest | undefined; project: string },
  budget: Budget,
): Promise<{ members: string[] | undefined; permissions: Workspace["permissions"]; problems: Problem[] }> {
  const report = (file: string, args: ProblemArguments["WorkspaceIncomplete"], path?: Path) =>
    createProblem("WorkspaceIncomplete", args, { file: root === project ? file : join(root, file), path });
  const bytes = port.readProjectFile(root, pnpmName);
  const limit = workspaceLimits.bytes;
  const problems: Problem[] = [];
  let pnpmFile: ReturnType<typeof parseYaml> | undefined;
  try {
    if (bytes !== undefined && bytes.length > limit)
      problems.push(report(pnpmName, { cause: "bytes", limit }));
    else if (bytes !== undefined) pnpmFile = (await import("../data/parse-yaml.ts")).parseYaml(bytes);
  } catch {
    problems.push(report(pnpmName, { cause: "malformed" }));
  }
  const { permissions: written } = isRecord(pnpmFile?.value) ? pnpmFile.value : {};
  const permissions = problems.length > 0 ? null : isRecord(written) ? written : {};
  const patterns = findPatterns(pnpmFile, manifest);
  if (patterns === undefined) return { members: undefined, permissions, problems };
  const { list, path, file, source } = patterns;
  const { folders, skipped } = findWorkspaces(port, root, list, budget);
  const add = async (args: ProblemArguments["WorkspaceIncomplete"], at: Path) =>
    problems.push(...(await locateProblems([{ problem: report(file, args, at), source, at }])));
  // One problem, at the first pattern, because there may be thousands.
  const [first] = skipped;
  if (first !== undefined)
    await add({ cause: "syntax", pattern: String(list[first]), others: skipped.length - 1 }, [
      ...path,
      first,
    ]);
  else if (budget.folders < 0)
    await add({ cause: "folders", limit: workspaceLimits.folders }, path.slice(0, 1));
  return { members: folders, permissions, problems };
}
