import type { InspectedItem, InspectedPack } from "../../inspection/types.ts";
import type { Path } from "../../problems/index.ts";
import { type Check, findInFile, findInItem } from "../finding.ts";
import type { ModuleFiles } from "../modules/module-files.ts";
import { placeOf } from "../modules/parse-module.ts";
import type { NeededFile } from "./needed-files.ts";

const code = "TypeScriptNotPublishable";

/** Checks that an installed pack runs JavaScript only, because Node strips no types below node_modules. */
export const checkTypeScript: Check = async function* ({ inspected, typeScript }) {
  const isPrivate = inspected.manifest.value.private === true;
  for (const { file, javascript, named } of await typeScript()) {
    const args = { file, javascript, isPrivate };
    if (named === undefined) yield findInFile(file, code, { ...args, isDefinition: true });
    else if ("item" in named) yield findInItem(named.item, code, args, named.path);
    else {
      const { importer, line, column } = named;
      yield findInFile(importer, code, { ...args, importer }, { line, column });
    }
  }
};

/** A TypeScript file that an installed pack would have to run. */
export interface TypeScriptUse {
  file: string;
  /** The compiled file next to it, if any. */
  javascript?: string | undefined;
  /** The place in a definition or in a module that names the file; absent if the file is a definition. */
  named?: { item: InspectedItem; path: Path } | { importer: string; line: number; column: number };
}

const isTypeScript = (file: string) => /\.[cm]?ts$/.test(file);

/** Whether `node` gets an option such as `--import tsx`, with which it may run TypeScript in installed packages. */
const hasLoader = ({ definition }: InspectedItem): boolean =>
  Array.isArray(definition?.args) &&
  definition.args.some((one) =>
    /^(?:-r|--require|--import|--(?:experimental-)?loader)(?:=|$)/.test(String(one)),
  );

/** Finds the TypeScript that a pack under development would publish instead of JavaScript. */
export async function findTypeScript(
  modules: ModuleFiles,
  { items, problems }: InspectedPack,
  needed: readonly NeededFile[],
  published: readonly string[],
): Promise<TypeScriptUse[]> {
  const definitions = new Set<string>();
  for (const { file } of items) if (file !== null && isTypeScript(file)) definitions.add(file);
  for (const { code, args } of problems) {
    if (code === "UnsupportedDefinitionFormat" && args.cause === "typesNotStripped")
      definitions.add(args.file);
  }
  const found: TypeScriptUse[] = [...definitions].map((file) => ({ file }));
  for (const { file, item, path } of needed) {
    const runsOtherwise = path?.[0] === "command" || (path?.[0] === "args" && hasLoader(item));
    if (path === undefined || runsOtherwise || !isTypeScript(file) || !modules.isFile(file)) continue;
    found.push({ file, javascript: findCompiled(modules, file), named: { item, path } });
  }
  for (const importer of published) {
    for (const { specifier, kind, index } of await modules.listWritten(importer)) {
      const target = modules.resolve(importer, specifier, kind);
      if (!("file" in target) || !isTypeScript(target.file) || !modules.isFile(target.file)) continue;
      const named = { importer, ...placeOf(modules.textOf(importer), index) };
      found.push({ file: target.file, javascript: findCompiled(modules, target.file), named });
    }
  }
  return found;
}

function findCompiled(modules: ModuleFiles, file: string): string | undefined {
  const compiled = file.replace(/ts$/, "js");
  return modules.isFile(compiled) ? compiled : undefined;
}
