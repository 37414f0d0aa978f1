import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** The user's home; `undefined` without HOME and without an entry in the user database. */
export function findHome(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}

/** The user's folder for application state, by the conventions of the system; `undefined` if it is unknown. */
export function findStateDirectory(
  platform: NodeJS.Platform = process.platform,
  environment: Readonly<Record<string, string | undefined>> = process.env,
  home: string | undefined = findHome(),
): string | undefined {
  const inHome = (...path: string[]) => (home === undefined || home === "" ? undefined : join(home, ...path));
  if (platform === "win32") return environment.LOCALAPPDATA || inHome("AppData", "Local");
  if (platform === "darwin") return inHome("Library", "Application Support");
  const { XDG_STATE_HOME } = environment;
  // XDG requires relative paths to be ignored.
  return XDG_STATE_HOME && isAbsolute(XDG_STATE_HOME) ? XDG_STATE_HOME : inHome(".local", "state");
}
