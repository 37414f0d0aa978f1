// What npm runs before it packs either package: builds both, unless what is built is newer than all it is made of.
import { execSync } from "node:child_process";
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fastGlob from "fast-glob";

const root = fileURLToPath(new URL("..", import.meta.url));
const sources = [
  "src/**",
  "packages/*/src/**",
  "{.,packages/*}/package.json",
  "tsdown.config.ts",
  "package-lock.json",
];
/** One file of each build. */
const built = ["dist/index.mjs", "dist/cli/cli.cjs", "packages/scripting/dist/index.mjs"];

const timesOf = (paths: readonly string[]) =>
  paths.map((path) => statSync(`${root}/${path}`, { throwIfNoEntry: false })?.mtimeMs ?? 0);

if (Math.max(...timesOf(fastGlob.sync(sources, { cwd: root }))) > Math.min(...timesOf(built))) {
  execSync("npm run --silent build", { cwd: root, stdio: ["ignore", 2, 2] });
}
