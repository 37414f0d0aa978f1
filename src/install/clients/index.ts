import { failure } from "../../problems/index.ts";
import { findNearestNames } from "../../qualified-names/nearest-names.ts";
import type { ConfigFormatName, JsonRecord } from "../editing/config-format.ts";

/**
 * The path of a file. `~/` is the home folder, `./` the project, `${NAME:-~/default}` a folder that an environment
 * variable may name. Of several paths, the first existing one is used, or else the first.
 */
export type PathTemplates = readonly string[];

export const systems = ["linux", "darwin", "win32"] as const;
export type System = (typeof systems)[number];

export type Scope = "user" | "project";

/** How a client writes an entry for a server that it starts. Keys are in this order. */
export interface EntryShape {
  /** Keys before the command, such as `{ type: "stdio" }`. */
  first?: JsonRecord;
  /** The command's key; with `commandIsList`, its value includes the arguments. Default: `command`. */
  command?: string;
  commandIsList?: true;
  /** Default: `env`. */
  environment?: string;
  /** A key that lists names of variables to pass on, instead of values. */
  passedNames?: string;
  /** A key under which the entry repeats its own name. */
  name?: string;
  /** Keys after all others, such as `{ tools: ["*"] }`. */
  last?: JsonRecord;
}

/** Each record has its source and its date, because facts become outdated. */
export interface ClientRecord {
  id: string;
  name: string;
  aliases: readonly string[];
  format: ConfigFormatName;
  user: Readonly<Partial<Record<System, PathTemplates>>>;
  /** Relative to the project's folder; absent if the client has no such file. */
  project?: PathTemplates;
  container: readonly string[];
  /** The keys of a newer form of the config, used if a file has them. */
  newerContainer?: readonly string[];
  /** Entries are in an array and have their key as `name`. */
  isList?: true;
  shape: EntryShape;
  /** How a value refers to an environment variable; `NAME` stands for its name. */
  reference?: string;
  /** Other forms of references that the client reads. `$(COMMAND)` stands for the output of a command. */
  alsoReads?: readonly string[];
  /** The keys that lead to an object with the container of each folder, for the servers of one project. */
  byFolder?: readonly string[];
  /** The keys that lead to the names of servers that are turned off: in the file, or in the object of a folder. */
  disabledNames?: readonly string[];
  /** A regular expression for keys, if the client restricts them. */
  keyPattern?: string;
  /** Files or folders that show that the client is installed. Default: the user's file and its folder. */
  signs?: readonly string[];
  /** The folder of its skills, below the project's folder and the home folder; absent if it reads none of the two. */
  skills?: ".agents/skills" | ".claude/skills";
  /** What the user has to do for an entry in the project's file. */
  approval?: string;
  source: string;
  /** Year and month in which the source was checked. */
  checked: string;
}

const dotConfig = "${XDG_CONFIG_HOME:-~/.config}";
const appData = "${APPDATA:-~/AppData/Roaming}";
const localData = "${LOCALAPPDATA:-~/AppData/Local}";

/** What a path may begin with, by the system: `config` is the same everywhere, `xdg` may be moved on Linux only. */
const folders: Readonly<Record<string, Readonly<Record<System, string>>>> = {
  "{config}": { linux: dotConfig, darwin: dotConfig, win32: dotConfig },
  "{settings}": { linux: dotConfig, darwin: "~/Library/Application Support", win32: appData },
  "{xdg}": { linux: dotConfig, darwin: "~/.config", win32: appData },
  "{roaming}": { linux: dotConfig, darwin: dotConfig, win32: appData },
  "{local}": { linux: dotConfig, darwin: dotConfig, win32: localData },
};

/** The paths of `A or B`, in which `[c]` stands for a file that may also end in `.jsonc`. */
const pathsOf = (text: string, system: System): PathTemplates =>
  text
    .replace(/\{\w+\}/g, (folder) => folders[folder]?.[system] ?? folder)
    .split(" or ")
    .flatMap((path) => (path.endsWith("[c]") ? [path.slice(0, -3), path.replace("[c]", "c")] : path));

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
  container: ["servers"],
  shape: typedShape,
  reference: "${env:NAME}",
  approval: "VS Code asks whether the workspace and the server are trusted before it starts it.",
} as const;

/** The clients that read skills from `.agents/skills`, as the list of agents of vercel-labs/skills says. */
const agentsClients = [
  "amp antigravity cline cline-vscode codex copilot-cli cursor droid",
  "gemini-cli kilo kimi-code opencode vscode vscode-insiders warp zed",
].flatMap((ids) => ids.split(" "));

interface Facts extends Partial<Omit<ClientRecord, "user" | "project">> {
  /** The user's files, maybe by the system, and the project's; one text for a path in both folders. */
  files: string | readonly [user: string | { unix?: string; win32?: string }, project?: string];
}

/**
 * A record. `names`: the id and the aliases. `source`: of the facts; `docs` are its own, and `real client` says that the client
 * itself read a written file. What is usual is not repeated.
 */
function client(names: string, name: string, source: string, { files, ...facts }: Facts): ClientRecord {
  const [id = "", ...aliases] = names.split(" ");
  const [ofUser, ofProject] = typeof files === "string" ? [`~/${files}`, `./${files}`] : files;
  const { unix, win32 } = typeof ofUser === "string" ? { unix: ofUser, win32: ofUser } : ofUser;
  const user = systems.flatMap((system) => {
    const text = system === "win32" ? win32 : unix;
    return text === undefined ? [] : [[system, pathsOf(text, system)]];
  });
  const project = ofProject === undefined ? undefined : pathsOf(ofProject, "linux");
  const paths = JSON.stringify([user, project]);
  const format =
    (["toml", "yaml", "jsonc"] as const).find((ending) => paths.includes(`.${ending}"`)) ?? "json";
  return {
    id,
    name,
    aliases,
    source,
    checked: "2026-11",
    format,
    user: Object.fromEntries(user),
    project,
    container: [format === "toml" ? "mcp_servers" : "mcpServers"],
    shape: {},
    skills: agentsClients.includes(id) ? ".agents/skills" : undefined,
    ...facts,
  };
}

/** Sorted by id. */
export const clients: readonly ClientRecord[] = [
  client("amp sourcegraph-amp", "Amp", "docs, rulesync", {
    files: ["{config}/amp/settings.json[c]", "./.amp/settings.json[c]"],
    container: ["amp.mcpServers"],
    approval: "Amp asks for approval of a project's servers.",
  }),
  client("antigravity", "Antigravity", "add-mcp, rulesync; the second file: Glean", {
    format: "jsonc",
    files: [
      "~/.gemini/config/mcp_config.json or ~/.gemini/antigravity/mcp_config.json",
      "./.agents/mcp_config.json",
    ],
  }),
  client("auggie augment augment-code", "Auggie", "rulesync, real client", {
    files: ".augment/settings.json",
  }),
  client("claude-code claude", "Claude Code", "docs, add-mcp, rulesync, real client", {
    files: ["${CLAUDE_CONFIG_DIR:-~}/.claude.json", "./.mcp.json"],
    shape: typedShape,
    reference: "${NAME}",
    byFolder: ["projects"],
    disabledNames: ["disabledMcpServers"],
    keyPattern: "^[A-Za-z0-9_-]+$",
    skills: ".claude/skills",
    signs: ["${CLAUDE_CONFIG_DIR:-~}/.claude.json", "${CLAUDE_CONFIG_DIR:-~/.claude}"],
    approval: "Claude Code asks for approval of a project's servers. Other clients read .mcp.json too.",
  }),
  // There is no official build for Linux; the path there is that of others' builds.
  client("claude-desktop claude-app", "Claude Desktop", "add-mcp, Glean", {
    files: ["{settings}/Claude/claude_desktop_config.json"],
  }),
  client("cline cline-cli", "Cline CLI", "add-mcp, rulesync", {
    files: ["~/.cline/data/settings/cline_mcp_settings.json"],
    shape: clineShape,
    signs: ["~/.cline"],
  }),
  client("cline-vscode saoudrizwan.claude-dev", "Cline (VS Code extension)", "add-mcp, install-mcp", {
    files: ["{settings}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"],
    shape: clineShape,
  }),
  client("codex codex-cli openai-codex", "Codex", "docs, add-mcp, rulesync, Glean, real client", {
    files: ["${CODEX_HOME:-~/.codex}/config.toml", "./.codex/config.toml"],
    shape: { passedNames: "env_vars", last: { enabled: true } },
    keyPattern: "^[A-Za-z0-9_-]+$",
    approval: "Codex reads a project's file only where the project is trusted.",
  }),
  // It also accepts the type "local", but shares its project file with Claude Code, which does not.
  client("copilot-cli github-copilot-cli", "GitHub Copilot CLI", "add-mcp, rulesync, real client", {
    files: ["${COPILOT_HOME:-~/.copilot}/mcp-config.json", "./.mcp.json or ./.github/mcp.json"],
    shape: { first: { type: "stdio" }, last: { tools: ["*"] } },
    approval: "The folder must be trusted. Other clients read .mcp.json too.",
  }),
  client("copilot-jetbrains copilot-intellij", "GitHub Copilot for JetBrains", "docs", {
    files: ["{local}/github-copilot/intellij/mcp.json"],
    container: ["servers"],
  }),
  client("crush", "Crush", "docs, rulesync", {
    files: ["{local}/crush/crush.json", "./crush.json or ./.crush.json"],
    container: ["mcp"],
    shape: typedShape,
    reference: "$NAME",
    alsoReads: ["$(COMMAND)"],
  }),
  client("cursor", "Cursor", "docs, add-mcp, rulesync, Glean", {
    files: ".cursor/mcp.json",
    reference: "${env:NAME}",
    approval: "Cursor asks for approval of a project's servers.",
  }),
  client("devin devin-desktop", "Devin Desktop", "docs, rulesync", {
    files: ["{roaming}/devin/mcp_config.json", "./.devin/mcp_config.json"],
  }),
  client("droid factory factory-droid", "Factory Droid", "rulesync, real client", {
    files: ".factory/mcp.json",
    shape: typedShape,
  }),
  client("gemini-cli gemini", "Gemini CLI", "add-mcp, Glean, real client", {
    format: "jsonc",
    files: ".gemini/settings.json",
    reference: "${NAME}",
    alsoReads: ["$NAME"],
    disabledNames: ["mcp", "excluded"],
    approval: "The folder must be trusted.",
  }),
  client("goose goose-cli block-goose", "Goose", "docs, add-mcp, rulesync, Glean", {
    // Since 1.39, it reads `./.agents/plugins/NAME/.mcp.json` (goose#9471), which goose#11043 plans to replace.
    files: [{ unix: "{xdg}/goose/config.yaml", win32: "{xdg}/Block/goose/config/config.yaml" }],
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
    files: ["${GROK_HOME:-~/.grok}/config.toml", "./.grok/config.toml"],
  }),
  client("jetbrains-ai-assistant jetbrains intellij", "JetBrains AI Assistant", "rulesync", {
    files: ".ai/mcp/mcp.json",
  }),
  client("junie", "JetBrains Junie", "rulesync, Glean", {
    files: ".junie/mcp/mcp.json",
    signs: ["~/.junie"],
  }),
  client("kilo kilo-code kilocode", "Kilo", "add-mcp, rulesync, real client", {
    files: ["{config}/kilo/kilo.json[c]", "./kilo.json[c] or ./.kilo/kilo.json[c]"],
    container: ["mcp"],
    shape: openCodeShape,
  }),
  client("kimi-code kimi kimi-cli", "Kimi Code", "add-mcp, rulesync", {
    files: ".kimi-code/mcp.json",
    shape: transportShape,
    approval: "The folder must be trusted.",
  }),
  client("kiro kiro-cli", "Kiro", "docs, add-mcp, rulesync", {
    files: ".kiro/settings/mcp.json",
    shape: clineShape,
    reference: "${NAME}",
    signs: ["~/.kiro"],
  }),
  client("librechat", "LibreChat", "docs, smithery", {
    // The location of the user's depends on the installation.
    files: [{}, "./librechat.yaml"],
    shape: typedShape,
    reference: "${NAME}",
  }),
  client("lm-studio lmstudio", "LM Studio", "docs; the second file: its bug tracker, 1371", {
    files: ["~/.lmstudio/mcp.json or ~/.cache/lm-studio/mcp.json"],
  }),
  client("mcporter", "MCPorter", "add-mcp", {
    format: "jsonc",
    files: ["~/.mcporter/mcporter.json", "./config/mcporter.json"],
    reference: "${NAME}",
    alsoReads: ["$env:NAME"],
  }),
  client("mistral-vibe vibe", "Mistral Vibe", "rulesync", {
    files: ".vibe/config.toml",
    isList: true,
    shape: transportShape,
  }),
  client("opencode open-code", "OpenCode", "docs, add-mcp, rulesync, real client", {
    files: ["{config}/opencode/opencode.json[c]", "./opencode.json[c] or ./.opencode/opencode.json[c]"],
    container: ["mcp"],
    newerContainer: ["mcp", "servers"],
    shape: openCodeShape,
    reference: "{env:NAME}",
  }),
  client("qwen-code qwen", "Qwen Code", "rulesync, its code, real client", {
    files: ".qwen/settings.json",
    reference: "${NAME}",
    alsoReads: ["$NAME"],
    disabledNames: ["mcp", "excluded"],
  }),
  client("rovo-dev rovodev", "Rovo Dev", "rulesync", { files: ".rovodev/mcp.json", shape: transportShape }),
  client("tabnine-cli tabnine", "Tabnine CLI", "docs, rulesync", {
    files: ".tabnine/agent/settings.json",
    signs: ["~/.tabnine"],
  }),
  client("visual-studio vs", "Visual Studio", "docs", {
    files: [{ win32: "~/.mcp.json" }, "./.mcp.json or ./.vs/mcp.json"],
    container: ["servers"],
    signs: ["~/.mcp.json"],
    approval: "The file .mcp.json is shared with other clients, which read other keys of it.",
  }),
  client(
    "vscode code visual-studio-code github-copilot copilot",
    "VS Code",
    "docs, add-mcp, rulesync, Glean",
    { ...vscode, files: ["{settings}/Code/User/mcp.json", "./.vscode/mcp.json"] },
  ),
  client("vscode-insiders code-insiders", "VS Code Insiders", "smithery", {
    ...vscode,
    files: ["{settings}/Code - Insiders/User/mcp.json", "./.vscode/mcp.json"],
  }),
  client("warp", "Warp", "rulesync", { files: ".warp/.mcp.json" }),
  client("zed", "Zed", "docs, add-mcp, rulesync", {
    format: "jsonc",
    files: [{ unix: "{xdg}/zed/settings.json", win32: "{xdg}/Zed/settings.json" }, "./.zed/settings.json"],
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
