import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeNpmTree } from "./npm-tree.ts";
import { writePnpmTree } from "./pnpm-tree.ts";
import { createRandom } from "./random.ts";

export type Layout = "npm" | "pnpm";

/** A project with packages installed, and how many of them a search has to find. */
export interface Tree {
  path: string;
  packages: number;
  packs: number;
}

const packShare = 0.01;
const writers = { npm: writeNpmTree, pnpm: writePnpmTree };

/** Runs a benchmark with a folder for trees, which is gone afterwards, even after an interruption. */
export async function withTemporaryTrees(
  run: (makeTree: (layout: Layout, packages: number) => Tree) => Promise<void> | void,
): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "trailblaze-bench-")));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  const interrupt = () => process.exit(130);
  process.on("exit", remove);
  process.on("SIGINT", interrupt);
  try {
    await run((layout, packages) => {
      const path = join(folder, `${layout}-${packages}`);
      const packs = Math.ceil(packages * packShare);
      mkdirSync(path);
      writers[layout](path, packages, packs, createRandom(packages));
      return { path, packages, packs };
    });
  } finally {
    remove();
    process.off("exit", remove);
    process.off("SIGINT", interrupt);
  }
}
