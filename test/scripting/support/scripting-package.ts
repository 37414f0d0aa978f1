import { readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { inRepository } from "../../support/repository.ts";
import type { Tree } from "../../support/tree.ts";

const source = inRepository("packages/scripting/src");

const compilerOptions: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
};

/**
 * `@trailblaze/scripting` as a package in `node_modules`, made from its source file by file: what a build makes, without
 * one. For code that Node itself runs.
 */
export const scriptingPackage: Tree = (() => {
  const folder = "node_modules/@trailblaze/scripting";
  const manifest = JSON.parse(readFileSync(inRepository("packages/scripting/package.json"), "utf8"));
  const exports = {
    ".": "./dist/index.js",
    "./result": "./dist/result.js",
    "./testing": "./dist/testing.js",
  };
  const files: Record<string, unknown> = { [`${folder}/package.json`]: { ...manifest, exports } };
  for (const path of readdirSync(source, { recursive: true, encoding: "utf8" })) {
    if (!path.endsWith(".ts")) continue;
    const { outputText } = ts.transpileModule(readFileSync(join(source, path), "utf8"), { compilerOptions });
    files[`${folder}/dist/${path.replaceAll("\\", "/").replace(/\.ts$/, ".js")}`] = outputText;
  }
  return files;
})();

/** Makes packages of this repository's `node_modules` those of a project, as `npm link` does. */
export function linkPackages(project: string, names: readonly string[]): void {
  for (const name of names) {
    const target = join(project, "node_modules", name);
    ts.sys.createDirectory(join(target, ".."));
    symlinkSync(inRepository(`node_modules/${name}`), target, "junction");
  }
}
