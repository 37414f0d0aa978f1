// For the demo: the configs of three clients in three formats, in a separate HOME.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeTree } from "../test/support/tree.ts";

/** Configs with comments and an entry of the user's own. */
export const clientConfigs: Readonly<Record<string, { file: string; text: string }>> = {
  "claude-code": {
    file: ".claude.json",
    text: '{\n    "theme": "dark",\n    "mcpServers": {\n        "mine": { "command": "my-server", "args": [] }\n    }\n}\n',
  },
  codex: {
    file: ".codex/config.toml",
    text: '# What I like best.\nmodel = "best" # really\n\n[mcp_servers.mine]\ncommand = "my-server"\n',
  },
  goose: {
    file: ".config/goose/config.yaml",
    text: "# My settings\nGOOSE_MODE: auto   # for now\nextensions:\n  mine:\n    type: stdio\n    cmd: my-server\n    args: []\n    enabled: true\n",
  },
};

/** Writes the configs into `home`. Returns an environment with that HOME. */
export function makeHome(home: string): NodeJS.ProcessEnv {
  writeTree(home, Object.fromEntries(Object.values(clientConfigs).map(({ file, text }) => [file, text])));
  const {
    CLAUDE_CONFIG_DIR: _c,
    CODEX_HOME: _h,
    XDG_CONFIG_HOME: _x,
    XDG_STATE_HOME: _s,
    ...rest
  } = process.env;
  return { ...rest, HOME: home };
}

/** The command of the entry that was written for Claude Code. */
export function readWrittenCommand(home: string, key: string): string[] {
  const { mcpServers } = JSON.parse(readFileSync(join(home, ".claude.json"), "utf8"));
  return [mcpServers[key].command, ...mcpServers[key].args];
}

/** The clients whose config has changed. */
export function findChanged(home: string): string[] {
  return Object.entries(clientConfigs)
    .filter(([, { file, text }]) => readFileSync(join(home, file), "utf8") !== text)
    .map(([client]) => client);
}
