import { isAbsolute, join } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import { createJsonSource, locateProblems, type SourceText } from "../data/source-text.ts";
import { type DirectoryEntry, type DiscoveryPort, workspaceLimits } from "../files/discovery-port.ts";
import { createProblem, type Path, type Problem } from "../problems/index.ts";
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
    const list = isRecord(value) ? value.packages : undefined;
    if (!Array.isArray(list)) return undefined;
    const source = { text, createLocator: async () => locate };
    return { list, file: "pnpm-workspace.yaml", path: ["packages"], source };
  } catch {
    // pnpm rejects such a file, too, so it cannot have installed a workspace.
    return undefined;
  }
}

function readField({ text, value: { workspaces } }: Manifest): Patterns | undefined {
  const list = isRecord(workspaces) ? workspaces.packages : workspaces;
  if (!Array.isArray(list)) return undefined;
  const path = list === workspaces ? ["workspaces"] : ["workspaces", "packages"];
  return { list, file: "package.json", path, source: createJsonSource(text) };
}

/** Groups, ranges and quantifiers, which few package managers have. */
const exoticSyntax = /[@!*?]\(|[|+]|\.\.[^/{}]*\}/;

/** How many patterns a pattern may be after brace expansion; `undefined` for one that is not supported. */
function countAlternatives(pattern: string): number | undefined {
  const segments = pattern.split("/");
  const isSupported =
    pattern.length <= 1024 &&
    !exoticSyntax.test(pattern) &&
    segments.filter((segment) => segment === "**").length <= 2 &&
    segments.every((segment) => segment.split(/\*+/).length <= 3);
  if (!isSupported) return undefined;
  // `tools/cli` and `packages/*` need no matching.
  if (!/[*?[{]/.test(pattern.replace(/\/\*\/*$/, ""))) return 0;
  const groups = pattern.split("{").length - 1;
  // The product is largest if the commas are distributed equally among the groups.
  return groups === 0 ? 1 : (1 + (pattern.split(",").length - 1) / groups) ** groups;
}

function expandBraces(pattern: string): string[] {
  const [group, alternatives = ""] = /\{([^{}]*,[^{}]*)\}/.exec(pattern) ?? [];
  if (group === undefined) return [pattern];
  return alternatives.split(",").flatMap((one) => expandBraces(pattern.replace(group, () => one)));
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

/** Returns a function that finds the real paths of folders by segments. It reads each folder once, within the budget. */
function createSearch(port: DiscoveryPort, budget: WorkspaceBudget) {
  const listed = new Map<string, DirectoryEntry[]>();

  function listFolders(folder: string): DirectoryEntry[] {
    let folders = listed.get(folder);
    if (folders !== undefined || budget.folders < 0) return folders ?? [];
    folders = (port.listDirectory(folder) ?? []).filter(
      (entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !/^\.|^node_modules$/.test(entry.name),
    );
    budget.folders -= 1 + folders.length;
    if (budget.folders < 0) folders.splice(budget.folders);
    listed.set(folder, folders);
    return folders;
  }

  /** The folder and all below it that no links lead to. */
  function* descend(folder: string): Generator<string> {
    yield folder;
    for (const entry of listFolders(folder))
      if (entry.isDirectory()) yield* descend(join(folder, entry.name));
  }

  function match(folder: string, segment: string): string[] {
    if (--budget.folders < 0) return [];
    if (segment === "**") return [...descend(folder)];
    const isWild = /[*?[]/.test(segment);
    const pattern = isWild ? compileSegment(segment) : undefined;
    const names = isWild
      ? listFolders(folder).flatMap(({ name }) => (pattern?.test(name) ? name : []))
      : [segment];
    return names.flatMap((name) => port.realPath(join(folder, name)) ?? []);
  }

  return (root: string, segments: readonly string[]): string[] =>
    segments.reduce(
      (folders, segment) => [...new Set(folders.flatMap((folder) => match(folder, segment)))],
      [root],
    );
}

type Cause = "syntax" | "patterns" | "folders";

/** Finds the folders with a package.json that patterns match, and the indexes of patterns that were skipped, by cause. */
export function findWorkspaces(
  port: DiscoveryPort,
  root: string,
  patterns: readonly unknown[],
  budget: WorkspaceBudget,
): { folders: Set<string>; skipped: Record<Cause, number[]> } {
  const skipped: Record<Cause, number[]> = { syntax: [], patterns: [], folders: [] };
  /** Patterns without braces, and those of exceptions, each once. */
  const [included, excluded] = [new Set<string>(), new Set<string>()];
  let total = 0;
  for (const [index, written] of patterns.entries()) {
    const pattern = typeof written === "string" ? written.replace(/^!/, "") : "";
    // Package managers ignore absolute patterns, too.
    if (pattern === "" || isAbsolute(pattern)) continue;
    const alternatives = countAlternatives(String(written));
    if (alternatives === undefined) skipped.syntax.push(index);
    else if (total + alternatives > workspaceLimits.patterns) skipped.patterns.push(index);
    else {
      total += alternatives;
      for (const one of expandBraces(pattern)) {
        const segments = one.split("/").filter((segment) => segment !== "" && segment !== ".");
        if (!segments.includes("node_modules"))
          (pattern === written ? included : excluded).add(segments.join("/"));
      }
    }
  }
  const search = createSearch(port, budget);
  const findAll = (list: Set<string>) => [...list].flatMap((one) => search(root, one.split("/")));
  // A package.json that is a broken link is reported later.
  const isMember = (folder: string) =>
    [port.exists, port.isLink].some((test) => test(join(folder, "package.json")));
  const folders = new Set(findAll(included).filter(isMember));
  for (const folder of findAll(excluded)) folders.delete(folder);
  // The search as a whole, so no pattern.
  if (budget.folders < 0) skipped.folders.push(-1);
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
  const nameOf = (file: string) => (root === project ? file : join(root, file));
  const problems: Problem[] = [];
  let bytes = port.readProjectFile(root, "pnpm-workspace.yaml");
  if (bytes !== undefined && bytes.length > workspaceLimits.bytes) {
    const args = { cause: "bytes", limit: workspaceLimits.bytes } as const;
    problems.push(createProblem("WorkspaceIncomplete", args, { file: nameOf("pnpm-workspace.yaml") }));
    bytes = undefined;
  }
  const patterns = (bytes && (await parsePnpmFile(bytes))) ?? (manifest && readField(manifest));
  if (patterns === undefined) return { members: undefined, problems };
  const { list, path: top, source } = patterns;
  const { folders, skipped } = findWorkspaces(port, root, list, budget);
  folders.delete(root);
  // One problem per cause, at the first pattern, because there may be thousands.
  const found = (["syntax", "patterns", "folders"] as const).flatMap((cause) => {
    const [first, ...others] = skipped[cause];
    if (first === undefined) return [];
    const path = first < 0 ? top.slice(0, 1) : [...top, first];
    const limit = cause === "syntax" ? undefined : workspaceLimits[cause];
    const args = { cause, limit, pattern: list[first] as string | undefined, others: others.length };
    const place = { file: nameOf(patterns.file), path };
    return { problem: createProblem("WorkspaceIncomplete", args, place), source, at: path };
  });
  return { members: [...folders].sort(), problems: [...problems, ...(await locateProblems(found))] };
}
