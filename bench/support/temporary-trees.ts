import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeNpmTree } from "./npm-tree.ts";
import { createRandom } from "./random.ts";

/** A project with forty declared dependencies, four of them packs, and this many installed packages. */
export interface Tree {
  path: string;
  packages: number;
}

const sizes = [40, 300, 1000, 2745, 20_000];

/** Removes its argument when its input ends, also if the parent process was killed. */
const cleaner =
  "process.stdin.resume().on('end', () => fs.rmSync(process.argv[1], { recursive: true, force: true }))";

/** Runs a benchmark with a folder of its own and trees in it, which are removed afterwards, even if the run is killed. */
export async function withTemporaryTrees(
  run: (trees: readonly Tree[], folder: string) => Promise<void> | void,
): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "trailblaze-bench-")));
  // A separate process, because everything here is synchronous and handles no signals.
  const { stdin } = spawn(process.execPath, ["-e", cleaner, folder], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  try {
    console.error("Writing trees");
    const trees = sizes.map((packages) => {
      const path = join(folder, `npm-${packages}`);
      mkdirSync(path);
      writeNpmTree(path, packages, createRandom(packages));
      return { path, packages };
    });
    await run(trees, folder);
  } finally {
    stdin.end();
  }
}
