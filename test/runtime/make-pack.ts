import { onTestFinished } from "vitest";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";
import { type Tree, writeTree } from "../support/tree.ts";

/** A pack's folder for one test: real modules, real path. */
export function makePack(tree: Tree): string {
  const { path, remove } = makeTemporaryFolder();
  onTestFinished(remove);
  writeTree(path, { "package.json": { name: "pack", version: "1.0.0" }, ...tree });
  return path;
}
