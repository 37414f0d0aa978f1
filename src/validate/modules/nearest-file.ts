import { posix } from "node:path";
import { quote } from "../../problems/index.ts";
import { findNearestNames } from "../../qualified-names/index.ts";
import type { ModuleFiles } from "./module-files.ts";

export const isTypeScript = (file: string) => /\.[cm]?tsx?$/.test(file);

/**
 * Finds a file with a similar name in the folder of a missing one, or the TypeScript that it is compiled from; `undefined`
 * if the folder does not exist.
 */
export function findNearestFile(
  files: ModuleFiles,
  file: string,
): { nearest?: string | undefined; source?: string } | undefined {
  const neighbors = files.listNeighbors(file);
  if (neighbors === undefined) return undefined;
  const name = posix.basename(file);
  const inFolder = (found: string) => posix.join(posix.dirname(file), found);
  const base = name.replace(/\.[cm]?js$/, "");
  const source = neighbors.find((one) => isTypeScript(one) && one.replace(/\.[cm]?tsx?$/, "") === base);
  if (source !== undefined) return { source: inFolder(source) };
  const usable = neighbors.filter((one) => !isTypeScript(one));
  const guess = usable.find((one) => one.startsWith(`${name}.`)) ?? findNearestNames(name, usable)[0];
  return { nearest: guess === undefined ? undefined : inFolder(guess) };
}

/** A hint for a missing file that is compiled from TypeScript. */
export const hintForSource = (source: string): string =>
  `Build it first: the package has only its source ${quote(source, 200)}.`;
