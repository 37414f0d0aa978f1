import { onTestFinished } from "vitest";
import { makeTemporaryFolder } from "./temporary-folder.ts";
import { type Tree, writeTree } from "./tree.ts";

/**
 * Writes a tree of packages by hand and returns its real path; it is removed after the running test.
 * `makeTree({ "package.json": { name: "app" }, "node_modules/x/package.json": { name: "x" } })`
 */
export function makeTree(tree: Tree): string {
  const folder = makeTemporaryFolder();
  onTestFinished(folder.remove);
  writeTree(folder.path, tree);
  return folder.path;
}

/** The package.json of a pack that is right but for what `fields` says. */
export function packManifest(name: string, fields: Readonly<Record<string, unknown>> = {}) {
  return {
    name,
    version: "1.0.0",
    description: `The pack ${name}.`,
    keywords: ["trailblaze-extension"],
    license: "MIT",
    type: "module",
    trailblaze: {},
    ...fields,
  };
}
