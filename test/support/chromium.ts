import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The Chromium of this machine: TRAILBLAZE_CHROMIUM, or one on the PATH; `undefined` if there is none. */
export function findChromium(): string | undefined {
  const { TRAILBLAZE_CHROMIUM: given, PATH = "" } = process.env;
  if (given !== undefined && given !== "") return given;
  const paths = PATH.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  return paths.find(isProgram);
}
