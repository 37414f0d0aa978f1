// The tool with which models of clients that do not know skills load them.
import type { Listing } from "../mcp/served-server.ts";
import { createErrorResult } from "../runtime/convert-result.ts";
import type { ReadAnswer } from "../runtime/pack-resource.ts";
import type { CallToolResult } from "../runtime/tool-result.ts";
import type { SkillItem } from "../session/items.ts";
import { fullNameOf, isAmbiguous } from "../session/session-skills.ts";

export const skillToolName = "load_skill";

/** The tool as clients are listed it; of skills with one name, with their full names. */
export function describeSkillTool(skills: readonly SkillItem[]): Listing {
  const lines = skills.map((one) => {
    const { name, description } = one.shown;
    return `- ${isAmbiguous(one, skills) ? fullNameOf(one) : name}: ${description}`;
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

/** What the tool answers with a file: its text, or else its bytes as a resource. */
export const toSkillResult = ({ contents }: ReadAnswer): CallToolResult => ({
  content: contents.map((one) =>
    one.text === undefined ? { type: "resource", resource: one } : { type: "text", text: one.text },
  ),
});

/** The arguments of the tool, or the result for invalid ones. */
export function readSkillArguments(args: Readonly<Record<string, unknown>>) {
  const { name, file = "SKILL.md" } = args;
  if (typeof name === "string" && typeof file === "string") return { name, file };
  return createErrorResult("`name` must be the name of a skill, and `file` the path of one of its files.");
}
