import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { attempt } from "./file-errors.ts";

/** The user's home; `undefined` without HOME and without an entry in the user database. */
export const findHome = (): string | undefined => attempt(homedir);

const folders = {
  state: { darwin: "Library/Application Support", variable: "XDG_STATE_HOME", other: ".local/state" },
  cache: { darwin: "Library/Caches", variable: "XDG_CACHE_HOME", other: ".cache" },
};

/** The user's folder for the state or the cache of applications, by the conventions of the system; `undefined` if it is unknown. */
export function findUserFolder(
  kind: keyof typeof folders,
  platform: NodeJS.Platform = process.platform,
  environment: Readonly<Record<string, string | undefined>> = process.env,
  home: string | undefined = findHome(),
): string | undefined {
  const { darwin, variable, other } = folders[kind];
  const inHome = (path: string) => (home === undefined || home === "" ? undefined : join(home, path));
  if (platform === "win32") return environment.LOCALAPPDATA || inHome("AppData/Local");
  if (platform === "darwin") return inHome(darwin);
  const folder = environment[variable];
  // XDG requires relative paths to be ignored.
  return folder && isAbsolute(folder) ? folder : inHome(other);
}
