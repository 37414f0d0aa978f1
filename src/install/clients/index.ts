import { failure } from "../../problems/index.ts";
import { findNearestNames } from "../../qualified-names/index.ts";
import type { ClientRecord, EntryShape, PathTemplates, SystemPaths } from "./client.ts";

const config = "${XDG_CONFIG_HOME:-~/.config}";
const appData = "${APPDATA:-~/AppData/Roaming}";
const localData = "${LOCALAPPDATA:-~/AppData/Local}";

const everywhere = (...paths: PathTemplates): SystemPaths => ({ linux: paths, darwin: paths, win32: paths });

/** Paths in `~/.config`, also on macOS. */
const inDotConfig = (...paths: string[]): SystemPaths =>
  everywhere(...(paths.map((path) => `${config}/${path}`) as [string, ...string[]]));

const inSettings = (path: string): SystemPaths => ({
  linux: [`${config}/${path}`],
  darwin: [`~/Library/Application Support/${path}`],
  win32: [`${appData}/${path}`],
});

/** A path in `~/.config`, which only on Linux a variable may move. */
const xdgOnLinux = (path: string, windowsPath: string): SystemPaths => ({
  linux: [`${config}/${path}`],
  darwin: [`~/.config/${path}`],
  win32: [`${appData}/${windowsPath}`],
});

const both = (path: string) => ({ user: everywhere(`~/${path}`), project: [`./${path}`] as const });

const typedShape: EntryShape = { first: { type: "stdio" } };
const transportShape: EntryShape = { first: { transport: "stdio" } };
const clineShape: EntryShape = { last: { disabled: false, autoApprove: [] } };
const openCodeShape: EntryShape = {
  first: { type: "local" },
  commandIsList: true,
  environment: "environment",
  last: { enabled: true },
};

const vscode = {
  format: "jsonc",
  project: ["./.vscode/mcp.json"],
  container: ["servers"],
  shape: typedShape,
  reference: "${env:NAME}",
  approval: "VS Code asks whether the workspace and the server are trusted before it starts it.",
} as const satisfies Partial<ClientRecord>;

/** The clients that read skills from `.agents/skills`, as the list of agents of vercel-labs/skills says. */
const agentsClients = [
  "amp antigravity cline cline-vscode codex copilot-cli cursor droid",
  "gemini-cli kilo kimi-code opencode vscode vscode-insiders warp zed",
].flatMap((ids) => ids.split(" "));

/**
 * A record. `names`: the id and the aliases. `source`: of the facts; `docs` are its own, and `real client` says that the client
 * itself read a written file. What is usual is not repeated.
 */
function client(
  names: string,
  name: string,
  source: string,
  facts: Partial<ClientRecord> & Pick<ClientRecord, "user">,
): ClientRecord {
  const [id = "", ...aliases] = names.split(" ");
  return {
    id,
    name,
    aliases,
    source,
    checked: "2026-11",
    format: "json",
    container: ["mcpServers"],
    shape: {},
    ...(agentsClients.includes(id) && { skills: ".agents/skills" }),
    ...facts,
  };
}

/** Sorted by id. */
export const clients: readonly ClientRecord[] = [
  client("amp sourcegraph-amp", "Amp", "docs, rulesync", {
    format: "jsonc",
    user: inDotConfig("amp/settings.json", "amp/settings.jsonc"),
    project: ["./.amp/settings.json", "./.amp/settings.jsonc"],
    container: ["amp.mcpServers"],
    approval: "Amp asks for approval of a project's servers.",
  }),
  client("antigravity", "Antigravity", "add-mcp, rulesync; the second file: Glean", {
    format: "jsonc",
    user: everywhere("~/.gemini/config/mcp_config.json", "~/.gemini/antigravity/mcp_config.json"),
    project: ["./.agents/mcp_config.json"],
  }),
  client("auggie augment augment-code", "Auggie", "rulesync, real client", both(".augment/settings.json")),
  client("claude-code claude", "Claude Code", "docs, add-mcp, rulesync, real client", {
    user: everywhere("${CLAUDE_CONFIG_DIR:-~}/.claude.json"),
    project: ["./.mcp.json"],
    shape: typedShape,
    reference: "${NAME}",
    byFolder: ["projects"],
    disabledNames: ["disabledMcpServers"],
    keyPattern: "^[A-Za-z0-9_-]+$",
    skills: ".claude/skills",
    signs: ["${CLAUDE_CONFIG_DIR:-~}/.claude.json", "${CLAUDE_CONFIG_DIR:-~/.claude}"],
    approval: "Claude Code asks for approval of a project's servers. Other clients read .mcp.json too.",
  }),
  client(
    "claude-desktop claude-app",
    "Claude Desktop",
    "add-mcp, Glean",
    // There is no official build for Linux; the path there is that of others' builds.
    { user: inSettings("Claude/claude_desktop_config.json") },
  ),
  client("cline cline-cli", "Cline CLI", "add-mcp, rulesync", {
    user: everywhere("~/.cline/data/settings/cline_mcp_settings.json"),
    shape: clineShape,
    signs: ["~/.cline"],
  }),
  client("cline-vscode saoudrizwan.claude-dev", "Cline (VS Code extension)", "add-mcp, install-mcp", {
    user: inSettings("Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
    shape: clineShape,
  }),
  client("codex codex-cli openai-codex", "Codex", "docs, add-mcp, rulesync, Glean, real client", {
    format: "toml",
    user: everywhere("${CODEX_HOME:-~/.codex}/config.toml"),
    project: ["./.codex/config.toml"],
    container: ["mcp_servers"],
    shape: { passedNames: "env_vars", last: { enabled: true } },
    keyPattern: "^[A-Za-z0-9_-]+$",
    approval: "Codex reads a project's file only where the project is trusted.",
  }),
  // It also accepts the type "local", but shares its project file with Claude Code, which does not.
  client("copilot-cli github-copilot-cli", "GitHub Copilot CLI", "add-mcp, rulesync, real client", {
    user: everywhere("${COPILOT_HOME:-~/.copilot}/mcp-config.json"),
    project: ["./.mcp.json", "./.github/mcp.json"],
    shape: { first: { type: "stdio" }, last: { tools: ["*"] } },
    approval: "The folder must be trusted. Other clients read .mcp.json too.",
  }),
  client("copilot-jetbrains copilot-intellij", "GitHub Copilot for JetBrains", "docs", {
    user: {
      ...inDotConfig("github-copilot/intellij/mcp.json"),
      win32: [`${localData}/github-copilot/intellij/mcp.json`],
    },
    container: ["servers"],
  }),
  client("crush", "Crush", "docs, rulesync", {
    user: { ...inDotConfig("crush/crush.json"), win32: [`${localData}/crush/crush.json`] },
    project: ["./crush.json", "./.crush.json"],
    container: ["mcp"],
    shape: typedShape,
    reference: "$NAME",
    alsoReads: ["$(COMMAND)"],
  }),
  client("cursor", "Cursor", "docs, add-mcp, rulesync, Glean", {
    ...both(".cursor/mcp.json"),
    reference: "${env:NAME}",
    approval: "Cursor asks for approval of a project's servers.",
  }),
  client("devin devin-desktop", "Devin Desktop", "docs, rulesync", {
    user: { ...inDotConfig("devin/mcp_config.json"), win32: [`${appData}/devin/mcp_config.json`] },
    project: ["./.devin/mcp_config.json"],
  }),
  client("droid factory factory-droid", "Factory Droid", "rulesync, real client", {
    ...both(".factory/mcp.json"),
    shape: typedShape,
  }),
  client("gemini-cli gemini", "Gemini CLI", "add-mcp, Glean, real client", {
    format: "jsonc",
    ...both(".gemini/settings.json"),
    reference: "${NAME}",
    alsoReads: ["$NAME"],
    disabledNames: ["mcp", "excluded"],
    approval: "The folder must be trusted.",
  }),
  client("goose goose-cli block-goose", "Goose", "docs, add-mcp, rulesync, Glean", {
    // Since 1.39, it reads `./.agents/plugins/NAME/.mcp.json` (goose#9471), which goose#11043 plans to replace.
    format: "yaml",
    user: xdgOnLinux("goose/config.yaml", "Block/goose/config/config.yaml"),
    container: ["extensions"],
    // add-mcp also writes an empty description; the reason is unknown.
    shape: {
      first: { enabled: true, type: "stdio", description: "" },
      name: "name",
      command: "cmd",
      environment: "envs",
      passedNames: "env_keys",
      last: { timeout: 300 },
    },
  }),
  client("grok grok-build grok-cli", "Grok Build", "add-mcp, rulesync", {
    format: "toml",
    user: everywhere("${GROK_HOME:-~/.grok}/config.toml"),
    project: ["./.grok/config.toml"],
    container: ["mcp_servers"],
  }),
  client(
    "jetbrains-ai-assistant jetbrains intellij",
    "JetBrains AI Assistant",
    "rulesync",
    both(".ai/mcp/mcp.json"),
  ),
  client("junie", "JetBrains Junie", "rulesync, Glean", {
    ...both(".junie/mcp/mcp.json"),
    signs: ["~/.junie"],
  }),
  client("kilo kilo-code kilocode", "Kilo", "add-mcp, rulesync, real client", {
    format: "jsonc",
    user: inDotConfig("kilo/kilo.json", "kilo/kilo.jsonc"),
    project: ["./kilo.json", "./kilo.jsonc", "./.kilo/kilo.json", "./.kilo/kilo.jsonc"],
    container: ["mcp"],
    shape: openCodeShape,
  }),
  client("kimi-code kimi kimi-cli", "Kimi Code", "add-mcp, rulesync", {
    ...both(".kimi-code/mcp.json"),
    shape: transportShape,
    approval: "The folder must be trusted.",
  }),
  client("kiro kiro-cli", "Kiro", "docs, add-mcp, rulesync", {
    ...both(".kiro/settings/mcp.json"),
    shape: clineShape,
    reference: "${NAME}",
    signs: ["~/.kiro"],
  }),
  client("librechat", "LibreChat", "docs, smithery", {
    // Its location depends on the installation.
    user: {},
    format: "yaml",
    project: ["./librechat.yaml"],
    shape: typedShape,
    reference: "${NAME}",
  }),
  client("lm-studio lmstudio", "LM Studio", "docs; the second file: its bug tracker, 1371", {
    user: everywhere("~/.lmstudio/mcp.json", "~/.cache/lm-studio/mcp.json"),
  }),
  client("mcporter", "MCPorter", "add-mcp", {
    format: "jsonc",
    user: everywhere("~/.mcporter/mcporter.json"),
    project: ["./config/mcporter.json"],
    reference: "${NAME}",
    alsoReads: ["$env:NAME"],
  }),
  client("mistral-vibe vibe", "Mistral Vibe", "rulesync", {
    format: "toml",
    ...both(".vibe/config.toml"),
    container: ["mcp_servers"],
    isList: true,
    shape: transportShape,
  }),
  client("opencode open-code", "OpenCode", "docs, add-mcp, rulesync, real client", {
    format: "jsonc",
    user: inDotConfig("opencode/opencode.json", "opencode/opencode.jsonc"),
    project: [
      "./opencode.json",
      "./opencode.jsonc",
      "./.opencode/opencode.json",
      "./.opencode/opencode.jsonc",
    ],
    container: ["mcp"],
    newerContainer: ["mcp", "servers"],
    shape: openCodeShape,
    reference: "{env:NAME}",
  }),
  client("qwen-code qwen", "Qwen Code", "rulesync, its code, real client", {
    ...both(".qwen/settings.json"),
    reference: "${NAME}",
    alsoReads: ["$NAME"],
    disabledNames: ["mcp", "excluded"],
  }),
  client("rovo-dev rovodev", "Rovo Dev", "rulesync", { ...both(".rovodev/mcp.json"), shape: transportShape }),
  client("tabnine-cli tabnine", "Tabnine CLI", "docs, rulesync", {
    ...both(".tabnine/agent/settings.json"),
    signs: ["~/.tabnine"],
  }),
  client("visual-studio vs", "Visual Studio", "docs", {
    user: { win32: ["~/.mcp.json"] },
    project: ["./.mcp.json", "./.vs/mcp.json"],
    container: ["servers"],
    signs: ["~/.mcp.json"],
    approval: "The file .mcp.json is shared with other clients, which read other keys of it.",
  }),
  client(
    "vscode code visual-studio-code github-copilot copilot",
    "VS Code",
    "docs, add-mcp, rulesync, Glean",
    { ...vscode, user: inSettings("Code/User/mcp.json") },
  ),
  client("vscode-insiders code-insiders", "VS Code Insiders", "smithery", {
    ...vscode,
    user: inSettings("Code - Insiders/User/mcp.json"),
  }),
  client("warp", "Warp", "rulesync", both(".warp/.mcp.json")),
  client("zed", "Zed", "docs, add-mcp, rulesync", {
    format: "jsonc",
    user: xdgOnLinux("zed/settings.json", "Zed/settings.json"),
    project: ["./.zed/settings.json"],
    container: ["context_servers"], // add-mcp writes the source; the reason is unknown.
    shape: { first: { source: "custom" } },
    approval: "Zed asks whether the worktree is trusted.",
  }),
];

/** The client with an id or an alias; ignores case, spaces and dashes. Throws `TrailblazeError` `UnknownClient`. */
export function findClient(name: string): ClientRecord {
  const compact = (text: string) => text.toLowerCase().replace(/[\s_-]+/g, "");
  const namesOf = ({ id, aliases }: ClientRecord) => [id, ...aliases];
  const found = clients.find((one) =>
    namesOf(one)
      .map(compact)
      .includes(compact(String(name))),
  );
  if (found !== undefined) return found;
  const nearest = findNearestNames(String(name).trim().toLowerCase(), clients.flatMap(namesOf));
  throw failure("UnknownClient", { name: String(name), nearest });
}
