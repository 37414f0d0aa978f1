import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import {
  type EvaluatedFile,
  type EvaluationOptions,
  evaluateConfined,
} from "../../src/confinement/evaluate.ts";
import { makeTree } from "../support/packs.ts";
import type { Tree } from "../support/tree.ts";

/** Whether this machine allows namespaces, found out without the code under test. */
export const canIsolate = spawnSync("unshare", ["-rn", "true"]).status === 0;

/** The ways to start a child that this machine allows: without the host's network, and with it. */
export const ways: readonly { way: string; hasNetwork: boolean }[] = [
  ...(canIsolate ? [{ way: "a network namespace", hasNetwork: false }] : []),
  { way: "the permission model alone", hasNetwork: true },
];

export interface PackEvaluation {
  confinement: string;
  /** By path in the pack. */
  results: Record<string, EvaluatedFile>;
}

/** Evaluates files of a folder; default: all that look like code at its top. */
export async function evaluateIn(
  packageRoot: string,
  files: readonly string[] = readdirSync(packageRoot)
    .filter((file) => /\.[cm]?js$/.test(file))
    .sort(),
  options: EvaluationOptions = { limits: { wallMs: 20_000, packMs: 60_000 } },
): Promise<PackEvaluation> {
  const root = realpathSync(packageRoot);
  const paths = files.map((file) => join(root, file));
  const { confinement, results } = await evaluateConfined({ packageRoot: root, files: paths }, options);
  return {
    confinement,
    results: Object.fromEntries([...results].map(([path, result]) => [path.slice(root.length + 1), result])),
  };
}

const manifest = { name: "pack", version: "1.0.0", type: "module" };

/** Writes a pack of the given files and evaluates all of its code. */
export function evaluatePack(tree: Tree, options?: EvaluationOptions): Promise<PackEvaluation> {
  return evaluateIn(makeTree({ "package.json": manifest, ...tree }), undefined, options);
}

/** What becomes of a single file with this content. */
export async function evaluateCode(
  code: string,
  options?: EvaluationOptions & { file?: string },
): Promise<EvaluatedFile | undefined> {
  const { file = "definition.mjs", limits = { wallMs: 20_000 } } = options ?? {};
  const { results } = await evaluatePack({ [file]: code }, { ...options, limits });
  return results[file];
}

/** Command lines of running processes that contain the text. */
export function processesWith(text: string): string[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry) && entry !== String(process.pid))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ")];
      } catch {
        return [];
      }
    })
    .filter((command) => command.includes(text));
}
