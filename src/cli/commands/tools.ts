import { printable } from "../../problems/index.ts";
import { makeServedName } from "../../qualified-names/advertised-names.ts";
import type { SessionTool } from "../../session/items.ts";
import type { Session } from "../../session/session.ts";
import { defineCommand, type TextStyle } from "../command.ts";
import { formatTable, wrap } from "../layout.ts";
import { callOptions, formatSource, startOptions, withSession } from "../session/session-command.ts";

export const command = defineCommand({
  summary: "List the tools of a session, and why others are excluded",
  usage: "",
  options: { ...startOptions, ...callOptions },
  async run(input) {
    return withSession(input, async (session) => {
      // Renames all of them before any is shown: this session ends with the command.
      if (input.options.served) for (const tool of session.tools) tool.name = makeServedName(tool.name);
      const shown = session.toolsForLlm();
      const wanted = input.options.toolset === undefined ? session.tools : shown;
      return {
        json: {
          sessionId: session.id,
          tools: wanted.map(describeTool),
          toolsets: session.toolsets,
          servers: session.servers,
          skipped: session.skipped,
          problems: session.problems,
        },
        formatText: (style) => formatTools(shown, session, style),
        problems: session.problems,
      };
    });
  },
});

function formatTools(shown: readonly SessionTool[], { tools, skipped }: Session, style: TextStyle): string {
  const parts: string[] = [];
  if (tools.length === 0) parts.push("The session has no tools.");
  else if (shown.length === 0) parts.push("No tools are offered to models.");
  else {
    const rows = shown.map((tool) => [tool.name, formatSource(tool), tool.description ?? ""]);
    parts.push(formatTable(["TOOL", "FROM", "DESCRIPTION"], rows, style));
  }
  const hidden = tools.filter((tool) => !shown.includes(tool));
  if (hidden.length > 0) {
    const names = hidden.map(({ name }) => printable(name)).join(", ");
    parts.push(wrap(`Callable but hidden from models: ${names}`, style.width, 2));
  }
  if (skipped.length > 0) {
    const rows = skipped.map((tool) => [tool.name, formatSource(tool), tool.reason, tool.message]);
    parts.push(`Excluded:\n${formatTable(["TOOL", "FROM", "REASON", "MESSAGE"], rows, style)}`);
  }
  return parts.join("\n\n");
}

function describeTool({ name, qualifiedName, source, ...tool }: SessionTool) {
  const { inputSchema, isForLlm, isRecordable, toolsets, _meta } = tool;
  // The key is always there, for readers of JSON.
  const description = tool.description ?? null;
  return { name, qualifiedName, source, description, inputSchema, isForLlm, isRecordable, toolsets, _meta };
}
