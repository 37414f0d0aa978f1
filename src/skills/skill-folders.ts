// What a `list` needs of skills where there are none.
import type { DiscoveryPort } from "../files/discovery-port.ts";

/** The folder of a package's skills. */
export const ownFolder = "skills";
/** The other one of a dependency. In a project, it belongs to the agents that work there. */
export const agentsFolder = ".agents/skills";

/** The file of a skill's instructions. */
export const instructionsFile = "SKILL.md";

/** Whether a package may have skills. */
export const mayHaveSkills = ({ exists }: Pick<DiscoveryPort, "exists">, location: string): boolean =>
  exists(`${location}/${ownFolder}`) || exists(`${location}/${agentsFolder}`);
