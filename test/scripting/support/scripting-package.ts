import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { inRepository } from "../../support/repository.ts";
import type { Tree } from "../../support/tree.ts";

const folder = inRepository("packages/scripting");
const files = ["package.json", ...readdirSync(join(folder, "dist")).map((name) => `dist/${name}`)];

/** `@trailblaze/scripting` as a package in `node_modules`, as it was built. For code that Node itself runs. */
export const scriptingPackage: Tree = Object.fromEntries(
  files.map((file) => [
    `node_modules/@trailblaze/scripting/${file}`,
    readFileSync(join(folder, file), "utf8"),
  ]),
);

/** Makes packages of this repository's `node_modules` those of a project, as `npm link` does. */
export function linkPackages(project: string, names: readonly string[]): void {
  for (const name of names) {
    const target = join(project, "node_modules", name);
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(inRepository(`node_modules/${name}`), target, "junction");
  }
}
