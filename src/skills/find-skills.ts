import { join } from "node:path";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import { agentsFolder, instructionsFile, ownFolder } from "./skill-folders.ts";

/** A folder with a SKILL.md. */
export interface FoundSkill {
  /** The last folder of the path. It is not trusted, as the path is not. */
  name: string;
  /** Below the folder of skills, with `/`: `engineering/triage`. Skills have it in their URI, and the lock as their key. */
  path: string;
  /** Relative to the package: `skills/engineering/triage`. */
  folder: string;
}

/** The skills of a package, in order, and those with a name that another one before has. */
export interface FoundSkills {
  skills: FoundSkill[];
  shadowed: FoundSkill[];
}

const maximumDepth = 3;
/** How many folders of a package are read. */
const maximumFolders = 1000;

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Finds the skills of a package by the names of folders: no file is opened. `location` is a real path. Links and names that begin
 * with `.` are passed over.
 */
export function findSkills(
  port: Pick<DiscoveryPort, "exists" | "listDirectory" | "realPath">,
  location: string,
  { isDependency }: { isDependency: boolean },
): FoundSkills {
  let remaining = maximumFolders;
  const search = (root: string, isNested: (path: string, isSkill: boolean) => boolean): FoundSkill[] => {
    const skills: FoundSkill[] = [];
    const visit = (path: string, depth: number) => {
      if (remaining <= 0) return;
      remaining -= 1;
      const folder = path === "" ? root : `${root}/${path}`;
      const entries = port.listDirectory(join(location, folder)) ?? [];
      const isSkill =
        path !== "" && entries.some((entry) => entry.name === instructionsFile && !entry.isDirectory());
      if (isSkill) skills.push({ name: path.slice(path.lastIndexOf("/") + 1), path, folder });
      if (depth === maximumDepth || !isNested(path, isSkill)) return;
      const names = entries.flatMap((entry) =>
        entry.isDirectory() && !entry.name.startsWith(".") ? entry.name : [],
      );
      for (const name of names.sort(compare)) visit(path === "" ? name : `${path}/${name}`, depth + 1);
    };
    const absolute = join(location, root);
    if (port.exists(absolute) && port.realPath(absolute) === absolute) visit("", 0);
    return skills.sort((one, other) => compare(one.path, other.path));
  };
  const found = search(ownFolder, () => true);
  if (isDependency) found.push(...search(agentsFolder, (path, isSkill) => path === "" || isSkill));
  const firsts = new Map(found.toReversed().map((skill) => [skill.name, skill]));
  const isFirst = (skill: FoundSkill) => firsts.get(skill.name) === skill;
  return { skills: found.filter(isFirst), shadowed: found.filter((skill) => !isFirst(skill)) };
}
