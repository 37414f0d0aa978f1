import { formatSchemaType } from "./schema-type.ts";
import { formatDocComment, formatLiteral } from "./source-text.ts";

/** A tool, as declarations describe it. Its strings are not to be trusted. */
export interface DeclaredTool {
  /** The advertised name. */
  name: string;
  title?: string;
  description: string | null;
  inputSchema: Readonly<Record<string, unknown>>;
  outputSchema?: Readonly<Record<string, unknown>>;
}

const header = `// The tools of this project's sessions. Written by \`trailblaze types\`: do not edit, run it again.
`;

const indent = "    ";
const inner = `${indent}  `;

function formatTool({ name, title, description, inputSchema, outputSchema }: DeclaredTool): string {
  const comment = formatDocComment([title, description ?? undefined], indent);
  const members = [`${inner}arguments: ${formatSchemaType(inputSchema, inner)};`];
  if (outputSchema !== undefined) members.push(`${inner}result: ${formatSchemaType(outputSchema, inner)};`);
  return `${comment}${indent}${formatLiteral(name)}: {\n${members.join("\n")}\n${indent}};\n`;
}

/**
 * TypeScript declarations that make the client of `@trailblaze/scripting` know tools by name. Pure: the same tools, in
 * whatever order, give the same source.
 */
export function formatDeclarations(tools: readonly DeclaredTool[]): string {
  const sorted = [...tools].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return `${header}import type {} from "@trailblaze/scripting";

declare module "@trailblaze/scripting" {
  interface InstalledTools {
${sorted.map(formatTool).join("")}  }
}
`;
}
