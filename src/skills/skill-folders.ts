// What a `list` needs of skills where there are none.
import type { DiscoveryPort } from "../files/discovery-port.ts";

export const ownFolder = "skills";
/** The other one of a dependency. In a project, it belongs to the agents that work there. */
export const agentsFolder = ".agents/skills";

export const instructionsFile = "SKILL.md";

export const mayHaveSkills = ({ exists }: Pick<DiscoveryPort, "exists">, location: string): boolean =>
  exists(`${location}/${ownFolder}`) || exists(`${location}/${agentsFolder}`);
