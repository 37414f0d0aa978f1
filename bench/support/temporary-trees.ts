import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeNpmTree } from "./npm-tree.ts";
import { writePnpmTree } from "./pnpm-tree.ts";
import { createRandom } from "./random.ts";

export type Layout = "npm" | "pnpm";

/** A project with installed packages, and how many of them discovery has to find. */
export interface Tree {
  path: string;
  packages: number;
  packs: number;
}

const packShare = 0.01;
const writers = { npm: writeNpmTree, pnpm: writePnpmTree };

/** Removes its argument when its input ends, also if the parent process was killed. */
const cleaner =
  "process.stdin.resume().on('end', () => fs.rmSync(process.argv[1], { recursive: true, force: true }))";

/** Runs a benchmark with a folder for trees, which is removed afterwards, even if the run is killed. */
export async function withTemporaryTrees(
  run: (makeTree: (layout: Layout, packages: number) => Tree) => Promise<void> | void,
): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "trailblaze-bench-")));
  // A separate process, because everything here is synchronous and handles no signals.
  const { stdin } = spawn(process.execPath, ["-e", cleaner, folder], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  try {
    await run((layout, packages) => {
      const path = join(folder, `${layout}-${packages}`);
      const packs = Math.ceil(packages * packShare);
      mkdirSync(path);
      writers[layout](path, packages, packs, createRandom(packages));
      return { path, packages, packs };
    });
  } finally {
    stdin.end();
  }
}
