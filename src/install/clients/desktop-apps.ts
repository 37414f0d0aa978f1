import { byItself, type ClientRecord, everywhere, inSettings, plainAddress, restart } from "./client.ts";

const mcpServers = { format: "json", container: ["mcpServers"], checked: "2026-11" } as const;

/** Desktop applications for chatting with a model. */
export const desktopApps: readonly ClientRecord[] = [
  {
    ...mcpServers,
    id: "claude-desktop",
    name: "Claude Desktop",
    aliases: ["claude-app"],
    user: inSettings("Claude/claude_desktop_config.json"),
    shape: {},
    afterwards: restart,
    source: "add-mcp, Glean. There is no official build for Linux; the path there is that of others' builds",
  },
  {
    ...mcpServers,
    id: "lm-studio",
    name: "LM Studio",
    aliases: ["lmstudio"],
    user: everywhere("~/.lmstudio/mcp.json", "~/.cache/lm-studio/mcp.json"),
    shape: { address: plainAddress },
    signs: ["~/.lmstudio", "~/.cache/lm-studio"],
    afterwards: byItself,
    source: "its documentation; its bug tracker, 1371, names the second file",
  },
  {
    ...mcpServers,
    id: "librechat",
    name: "LibreChat",
    aliases: [],
    format: "yaml",
    // Its location depends on the installation.
    user: {},
    project: ["./librechat.yaml"],
    shape: { first: { type: "stdio" }, address: { first: { type: "streamable-http" }, key: "url" } },
    reference: "${NAME}",
    afterwards: restart,
    source: "its documentation; smithery",
  },
];
