// The tool with which models of clients that do not know skills load them.
import type { Listing } from "../mcp/served-server.ts";
import type { SkillItem } from "../session/items.ts";
import { fullNameOf } from "../session/names.ts";

export const skillToolName = "load_skill";

/** The tool as clients are listed it; of skills with one name, with their full names. */
export function describeSkillTool(skills: readonly SkillItem[]): Listing {
  const lines = skills.map((one) => {
    const { name, description } = one.shown;
    const isOnly = skills.every((other) => other === one || other.shown.name !== name);
    return `- ${isOnly ? name : fullNameOf(one)}: ${description}`;
  });
  const name = { type: "string", description: "The name of a skill." };
  const file = {
    type: "string",
    description: "The path of a file that the skill refers to. Default: SKILL.md.",
  };
  return {
    name: skillToolName,
    title: "Load skill",
    description: `Loads a skill: instructions for a task. Load the one that fits before you begin.\n${lines.join("\n")}`,
    inputSchema: {
      type: "object",
      properties: { name, file },
      required: ["name"],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
}
