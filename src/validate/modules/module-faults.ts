import { findSyntaxErrorIn } from "../../confinement/confined-process.ts";
import { type CommonJsUse, findCommonJsUse } from "./commonjs-variables.ts";
import type { ModuleFault } from "./module-fault.ts";
import type { ModuleFiles } from "./module-files.ts";
import { parseEsm, placeOf } from "./parse-module.ts";
import type { ParsedSource, SyntaxParser } from "./syntax-parser.ts";

interface Source extends ParsedSource {
  file: string;
}

/** Limit per validation, because each position takes a process. */
const maximumPositions = 10;
/** The messages by which Node itself detects the format of a module. */
const saysEsm =
  /^(?:Cannot use import statement outside a module|Unexpected token 'export'|Cannot use 'import\.meta' outside a module)/;

async function describeUse(
  text: string,
  { name, index, isInFunction }: CommonJsUse,
  isEsm?: boolean,
): Promise<ModuleFault> {
  const place = placeOf(text, index);
  if (isInFunction || name.startsWith("__")) return { fault: "variable", name, isInFunction, ...place };
  return { fault: "format", readAs: "esm", isMixed: isEsm ?? (await parseEsm(text)).isEsm, ...place };
}

/** Finds the modules that Node cannot load, apart from their imports. Parses the modules without running them. */
export async function findModuleFaults(
  modules: ModuleFiles,
  files: readonly string[],
  parser: SyntaxParser,
): Promise<Map<string, ModuleFault>> {
  const faults = new Map<string, ModuleFault>();
  const sources: Source[] = [];
  for (const file of files) {
    const { kind } = await modules.get(file);
    const text = modules.textOf(file);
    if (text === "" || kind === "outside" || kind === "foreign") continue;
    // All supported versions of Node detect the format of a .js file without `type` by its syntax, in installed packages
    // too. So the result is the same on every machine.
    const format = modules.formatOf(file) ?? (kind === "esm" ? "esm" : undefined);
    const found = format === "esm" ? findCommonJsUse(text) : undefined;
    if (found !== undefined) faults.set(file, await describeUse(text, found));
    if (found === undefined || found.isInFunction) {
      const likely = /^\s*(?:import|export)\b/m.test(text)
        ? (["esm", "commonjs"] as const)
        : (["commonjs", "esm"] as const);
      sources.push({ file, text, kinds: format === undefined ? likely : [format] });
    }
  }
  const answers = sources.length === 0 ? [] : await parser.parse(sources);
  let positions = 0;
  for (const [index, { file, text }] of sources.entries()) {
    const answer = answers[index];
    if (answer === undefined) continue;
    if (answer.reason === undefined) {
      // Only `await` outside of functions makes Node read a file without `import` and `export` as an ES module.
      const isDetected = modules.formatOf(file) === undefined && answer.kind === "esm";
      const use = isDetected ? findCommonJsUse(text) : undefined;
      if (use !== undefined && !faults.has(file)) faults.set(file, await describeUse(text, use, true));
      continue;
    }
    const place = positions++ < maximumPositions ? await findSyntaxErrorIn(text, answer.kind) : undefined;
    faults.set(
      file,
      answer.kind === "commonjs" && saysEsm.test(answer.reason)
        ? { fault: "format", readAs: "commonjs", isMixed: false, ...place }
        : { fault: "syntax", reason: answer.reason, ...place },
    );
  }
  return faults;
}
