import { isAbsolute, join } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import { createJsonSource, locateProblems, type SourceText } from "../data/source-text.ts";
import { type DirectoryEntry, type DiscoveryPort, workspaceLimits } from "../files/discovery-port.ts";
import { createProblem, type Path, type Problem, type ProblemArguments } from "../problems/index.ts";
import type { Manifest } from "./types.ts";
import type { WorkspaceBudget } from "./workspace.ts";

/** The patterns of a workspace, and where they are listed. */
interface Patterns {
  list: readonly unknown[];
  file: "package.json" | "pnpm-workspace.yaml";
  path: Path;
  source: SourceText;
}

async function parsePnpmFile(bytes: Uint8Array): Promise<Patterns | undefined> {
  const { parseYaml } = await import("../data/parse-yaml.ts");
  try {
    const { text, value, locate } = parseYaml(bytes);
    const source = { text, createLocator: async () => locate };
    const list = isRecord(value) && value.packages;
    return Array.isArray(list)
      ? { list, file: "pnpm-workspace.yaml", path: ["packages"], source }
      : undefined;
  } catch {
    // pnpm rejects such a file, too, so it cannot have installed a workspace.
    return undefined;
  }
}

function readField({ text, value: { workspaces } }: Manifest): Patterns | undefined {
  const list = isRecord(workspaces) ? workspaces.packages : workspaces;
  const path = list === workspaces ? ["workspaces"] : ["workspaces", "packages"];
  const source = createJsonSource(text);
  return Array.isArray(list) ? { list, file: "package.json", path, source } : undefined;
}

/** Groups, ranges and quantifiers, which few package managers have. */
const exoticSyntax = /[@!*?]\(|[|+]|\.\.[^/{}]*\}/;

function isSupported(pattern: string): boolean {
  const segments = pattern.split("/");
  const isSimple = (segment: string) => segment.split(/\*+/).length <= 3;
  const deep = segments.filter((segment) => segment === "**");
  return (
    pattern.length <= 1024 && !exoticSyntax.test(pattern) && deep.length <= 2 && segments.every(isSimple)
  );
}

/** The patterns without braces that a pattern stands for, or some of them if those exceed the limit. */
function expandBraces(pattern: string): string[] {
  let expanded = [pattern];
  for (;;) {
    const next = expanded.flatMap((one) => {
      const [group, alternatives = ""] = /\{([^{}]*,[^{}]*)\}/.exec(one) ?? [];
      return group === undefined
        ? one
        : alternatives.split(",").map((each) => one.replace(group, () => each));
    });
    if (next.length === expanded.length || next.length > workspaceLimits.patterns) return next;
    expanded = next;
  }
}

/** Matches the names that a segment with wildcards stands for; `undefined` if its brackets make no class. */
function compileSegment(segment: string): RegExp | undefined {
  const escaped = segment.replace(/[\\^$.(){}]/g, String.raw`\$&`).replaceAll("[!", "[^");
  try {
    return new RegExp(`^${escaped.replace(/\*+/g, ".*").replaceAll("?", ".")}$`, "su");
  } catch {
    return undefined;
  }
}

/** The real paths of the folders that a path with wildcards leads to, as far as the budget goes. */
function findFolders(port: DiscoveryPort, budget: WorkspaceBudget, root: string, path: string): string[] {
  const listFolders = (folder: string): DirectoryEntry[] => {
    if (budget.folders < 0) return [];
    const folders = (port.listDirectory(folder) ?? []).filter(
      (entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !/^\.|^node_modules$/.test(entry.name),
    );
    budget.folders -= 1 + folders.length;
    return budget.folders < 0 ? folders.slice(0, budget.folders) : folders;
  };
  /** The folder and all below it that no links lead to. */
  const descend = (folder: string): string[] => [
    folder,
    ...listFolders(folder).flatMap((one) => (one.isDirectory() ? descend(join(folder, one.name)) : [])),
  ];
  const match = (folder: string, segment: string): string[] => {
    if (--budget.folders < 0) return [];
    if (segment === "**") return descend(folder);
    const isWild = /[*?[]/.test(segment);
    const pattern = isWild ? compileSegment(segment) : undefined;
    const names = isWild
      ? listFolders(folder).flatMap(({ name }) => (pattern?.test(name) ? name : []))
      : [segment];
    return names.flatMap((name) => port.realPath(join(folder, name)) ?? []);
  };
  const follow = (folders: string[], segment: string) => [
    ...new Set(folders.flatMap((folder) => match(folder, segment))),
  ];
  return path.split("/").reduce(follow, [root]);
}

/** Why packages may be missing, and the index of the pattern if it is one. */
interface Skipped {
  cause: "syntax" | "patterns" | "folders";
  index?: number;
}

/** Finds the folders with a package.json that patterns match, and what was skipped. */
export function findWorkspaces(
  port: DiscoveryPort,
  root: string,
  patterns: readonly unknown[],
  budget: WorkspaceBudget,
): { folders: Set<string>; skipped: Skipped[] } {
  const skipped: Skipped[] = [];
  /** Paths that may have wildcards, and those of exceptions, each once. */
  const [included, excluded] = [new Set<string>(), new Set<string>()];
  let left: number = workspaceLimits.patterns;
  for (const [index, written] of patterns.entries()) {
    const pattern = typeof written === "string" ? written.replace(/^!/, "") : "";
    // Package managers ignore absolute patterns, too.
    if (pattern === "" || isAbsolute(pattern)) continue;
    const isKnown = isSupported(String(written));
    // `tools/cli` and `packages/*` need no matching.
    const isPlain = !/[*?[{]/.test(pattern.replace(/\/\*\/*$/, ""));
    const expanded = isPlain || !isKnown || left < 0 ? [pattern] : expandBraces(pattern);
    if (isKnown && !isPlain) left -= expanded.length;
    if (!isKnown) skipped.push({ cause: "syntax", index });
    else if (!isPlain && left < 0) skipped.push({ cause: "patterns", index });
    else
      for (const one of expanded) {
        const segments = one.split("/").filter((segment) => segment !== "" && segment !== ".");
        if (!segments.includes("node_modules"))
          (pattern === written ? included : excluded).add(segments.join("/"));
      }
  }
  const findAll = (paths: Set<string>) => [...paths].flatMap((path) => findFolders(port, budget, root, path));
  // A package.json that is a broken link is reported later.
  const isMember = (folder: string) =>
    [port.exists, port.isLink].some((test) => test(join(folder, "package.json")));
  const folders = new Set(findAll(included).filter(isMember));
  for (const folder of findAll(excluded)) folders.delete(folder);
  if (budget.folders < 0) skipped.push({ cause: "folders" });
  return { folders, skipped };
}

/**
 * Finds the members of a workspace by its patterns: those of pnpm's file, or else those of package.json. `undefined` if the
 * folder has no patterns. The problems say why members may be missing.
 */
export async function findMembers(
  port: DiscoveryPort,
  { root, manifest, project }: { root: string; manifest: Manifest | undefined; project: string },
  budget: WorkspaceBudget,
): Promise<{ members: string[] | undefined; problems: Problem[] }> {
  const report = (file: Patterns["file"], args: ProblemArguments["WorkspaceIncomplete"], path?: Path) =>
    createProblem("WorkspaceIncomplete", args, { file: root === project ? file : join(root, file), path });
  const bytes = port.readProjectFile(root, "pnpm-workspace.yaml");
  const limit = workspaceLimits.bytes;
  const isTooLarge = bytes !== undefined && bytes.length > limit;
  const problems = isTooLarge ? [report("pnpm-workspace.yaml", { cause: "bytes", limit })] : [];
  const ofPnpm = bytes === undefined || isTooLarge ? undefined : await parsePnpmFile(bytes);
  const patterns = ofPnpm ?? (manifest && readField(manifest));
  if (patterns === undefined) return { members: undefined, problems };
  const { list, file, path, source } = patterns;
  const { folders, skipped } = findWorkspaces(port, root, list, budget);
  folders.delete(root);
  // One problem, at the first pattern, because there may be thousands.
  for (const { cause, index } of skipped.slice(0, 1)) {
    const at = index === undefined ? path.slice(0, 1) : [...path, index];
    const others = skipped.filter((one) => one.cause === cause).length - 1;
    const limit = cause === "syntax" ? undefined : workspaceLimits[cause];
    const pattern = index === undefined ? undefined : String(list[index]);
    const problem = report(file, { cause, limit, pattern, others }, at);
    problems.push(...(await locateProblems([{ problem, source, at }])));
  }
  return { members: [...folders].sort(), problems };
}
