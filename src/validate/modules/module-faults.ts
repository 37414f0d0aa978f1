import { Worker } from "node:worker_threads";
import { findSyntaxErrorIn } from "../../confinement/confined-process.ts";
import { type CommonJsUse, findCommonJsUse } from "./commonjs-variables.ts";
import type { ModuleFault, ModuleKind } from "./module-fault.ts";
import type { ModuleFiles } from "./module-files.ts";
import { parseEsm, placeOf } from "./parse-module.ts";

interface Source {
  file: string;
  text: string;
  /** The formats in which Node may read it, in the order to try. */
  kinds: readonly ModuleKind[];
}

/** Limit per validation, because each position takes a process. */
const maximumPositions = 10;
const parsingMs = 10_000;

/**
 * Parses each source in each of its formats. The answer is the first one that works; if all fail, the message of the first
 * one. The code is compiled and never run: no module is evaluated, no function is called.
 */
const parseAll = `
const { parentPort, workerData } = require("node:worker_threads");
const vm = require("node:vm");
const wrapper = ["exports", "require", "module", "__filename", "__dirname"];
function explain(text, kind) {
  try {
    if (kind === "esm") new vm.SourceTextModule(text);
    else vm.compileFunction(text.replace(/^#!/, "//"), wrapper);
  } catch (error) {
    // Other errors, such as a stack overflow on deeply nested code, do not mean that the syntax is wrong.
    if (error instanceof SyntaxError) return { kind, reason: error.message };
  }
}
parentPort.postMessage(workerData.map(({ text, kinds }) => {
  const faults = kinds.map((kind) => explain(text, kind));
  const working = faults.indexOf(undefined);
  return working < 0 ? faults[0] : { kind: kinds[working] };
}));
`;

/** The format in which the source can be parsed, or why it cannot be. */
type Answer = { kind: ModuleKind; reason?: string };

/** The answers of Node's own parser; empty if it takes too long or too much memory. */
function explainSyntax(sources: readonly Source[]): Promise<readonly Answer[]> {
  return new Promise((resolve) => {
    const worker = new Worker(parseAll, {
      eval: true,
      execArgv: ["--experimental-vm-modules", "--no-warnings"],
      env: {},
      workerData: sources.map(({ text, kinds }) => ({ text, kinds })),
      resourceLimits: { maxOldGenerationSizeMb: 512 },
    });
    const timer = setTimeout(() => finish([]), parsingMs);
    const finish = (answers: readonly Answer[]) => {
      clearTimeout(timer);
      void worker.terminate();
      resolve(answers);
    };
    worker.once("message", finish);
    worker.once("error", () => finish([]));
    worker.once("exit", () => finish([]));
  });
}

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
  const answers = sources.length === 0 ? [] : await explainSyntax(sources);
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
