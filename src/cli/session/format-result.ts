import { printable, printableLines } from "../../problems/index.ts";
import type { ToolResult } from "../../runtime/tool-result.ts";

/** What a tool answered, for people: its texts as they are, anything else by its type. */
export function formatResult({ variant, message, content, structuredContent }: ToolResult): string {
  const blocks = content.map((block) =>
    block.type === "text" && typeof block.text === "string"
      ? printableLines(block.text)
      : `[${printable(block.type)}${typeof block.mimeType === "string" ? ` ${printable(block.mimeType)}` : ""}]`,
  );
  if (variant !== "Success") return `${variant}: ${blocks.join("\n") || printableLines(message)}`;
  if (blocks.length === 0 && structuredContent !== undefined)
    return printableLines(JSON.stringify(structuredContent, null, 2));
  return blocks.join("\n");
}
