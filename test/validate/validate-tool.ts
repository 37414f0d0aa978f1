import type { Problem, ProblemCode } from "../../src/problems/index.ts";
import { greetTool, validateTree } from "./validate-tree.ts";

/** Validates a pack with one tool, whose definition has these fields besides its own. */
export function validateTool(
  fields: Record<string, unknown>,
  codes: readonly ProblemCode[],
): Promise<Problem[]> {
  const { parameters, ...others } = greetTool("./lib/greet.js");
  const definition = { ...others, ...("inputSchema" in fields ? {} : { parameters }), ...fields };
  const files = { "trailblaze/tools/greet.json": definition };
  return validateTree({ extension: { tools: ["greet"] }, files }, codes);
}

/** Validates a pack with one bundle of these entries. */
export function validateEntries(
  entries: readonly object[],
  codes: readonly ProblemCode[],
): Promise<Problem[]> {
  const bundle = { kind: "Mcp.Tools", metadata: { name: "greetings" }, entries };
  const files = { "trailblaze/toolsets/greetings.json": bundle };
  return validateTree({ extension: { toolsets: ["greetings"] }, files }, codes);
}

export const entry = (fields: Record<string, unknown> = {}) => ({
  name: "hello_greet",
  description: "Greet somebody.",
  argumentsSchema: { type: "object", properties: {} },
  handler: "./lib/greet.js",
  ...fields,
});
