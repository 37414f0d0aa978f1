import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The first program with one of these names on the PATH; `undefined` if there is none. */
export function findProgram(...names: readonly string[]): string | undefined {
  const { PATH = "" } = process.env;
  const paths = PATH.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  return paths.find(isProgram);
}
