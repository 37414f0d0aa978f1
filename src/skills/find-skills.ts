import { join } from "node:path";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import { agentsFolder, instructionsFile, ownFolder } from "./skill-folders.ts";

export interface FoundSkill {
  /** The last folder of the path. It is not trusted, as the path is not. */
  name: string;
  /** Below the folder of skills, with `/`: `engineering/triage`. Skills have it in their URI, and the lock as their key. */
  path: string;
  /** Relative to the package: `skills/engineering/triage`. */
  folder: string;
}

const maximumDepth = 3;
const maximumFolders = 1000;

/**
 * Finds the skills of a package, in order, by the names of folders: no file is opened. `location` is a real path. Links and names
 * that begin with `.` are passed over.
 */
export function findSkills(
  port: Pick<DiscoveryPort, "exists" | "listDirectory" | "realPath">,
  location: string,
  { isDependency }: { isDependency: boolean },
): FoundSkill[] {
  let remaining = maximumFolders;
  const search = (root: string, isFlat: boolean): FoundSkill[] => {
    const visit = (segments: readonly string[]): FoundSkill[] => {
      if (--remaining < 0) return [];
      const folder = [root, ...segments].join("/");
      const entries = port.listDirectory(join(location, folder)) ?? [];
      const name = segments.at(-1);
      const hasFile = entries.some((entry) => entry.name === instructionsFile && !entry.isDirectory());
      const own = name !== undefined && hasFile ? [{ name, path: segments.join("/"), folder }] : [];
      const isEnd = segments.length === maximumDepth || (isFlat && name !== undefined && own.length === 0);
      const inner = entries.filter((one) => !isEnd && one.isDirectory() && !one.name.startsWith("."));
      const names = inner.map((entry) => entry.name).sort();
      return [...own, ...names.flatMap((one) => visit([...segments, one]))];
    };
    const absolute = join(location, root);
    const isThere = port.exists(absolute) && port.realPath(absolute) === absolute;
    return isThere ? visit([]).sort((one, other) => (one.path < other.path ? -1 : 1)) : [];
  };
  return [...search(ownFolder, false), ...(isDependency ? search(agentsFolder, true) : [])];
}
