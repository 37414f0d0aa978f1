import { existsSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { WorkspaceBudget, WorkspaceSearch } from "./discovery-port.ts";

/** `tools/cli` or `packages/*`: the patterns of nearly every workspace, which need no library. */
const plainPattern = /^(?:\.\/)?([\w@-][\w@.-]*(?:\/[\w@-][\w@.-]*)*)(\/\*)?\/?$/;

function hasManifest(folder: string): boolean {
  try {
    return lstatSync(join(folder, "package.json"), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** The folder itself or its subfolders, if they contain a package.json. */
function listMembers(folder: string, inside: boolean, budget: WorkspaceBudget): string[] {
  const names = inside && existsSync(folder) ? readdirSync(folder) : [""];
  const folders = names
    .filter((name) => !name.startsWith(".") && name !== "node_modules")
    .map((name) => join(folder, name));
  const members = folders.slice(0, Math.max(0, budget.folders)).filter(hasManifest);
  budget.folders -= folders.length;
  return members;
}

/** Finds folders that match plain patterns, within the budget. */
function findPlain(
  root: string,
  matches: readonly RegExpExecArray[],
  budget: WorkspaceBudget,
): WorkspaceSearch {
  // Several patterns may name the same folder.
  const wanted = new Map(
    matches.map(([, folder = "", star]) => [join(folder, star ?? ""), { folder: join(root, folder), star }]),
  );
  const folders: string[] = [];
  for (const { folder, star } of wanted.values()) {
    budget.folders--;
    if (budget.folders < 0) break;
    folders.push(...listMembers(folder, star !== undefined, budget));
  }
  return { folders, obstacles: budget.folders < 0 ? [{ cause: "folders" }] : [] };
}

/** Finds folders below `root` with a package.json that match patterns of a workspace, within the budget. */
export async function findWorkspaces(
  root: string,
  patterns: readonly string[],
  budget: WorkspaceBudget,
): Promise<WorkspaceSearch> {
  const plain = patterns.map((pattern) => plainPattern.exec(pattern));
  if (plain.every((match) => match !== null)) return findPlain(root, plain, budget);
  const { findByPatterns } = await import("./find-by-patterns.ts");
  return findByPatterns(root, patterns, budget);
}
