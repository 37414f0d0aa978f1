// Installs real MCP clients from npm into a temporary folder, installs a server into their configs, and asks each whether
// it reads and reaches the server; then uninstalls and compares. Opt-in, because the clients have 1.7 GB:
//   npm run build && npx tsx scripts/try-real-clients.ts [client…]
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { applyPlan, planInstall, planUninstall } from "../src/install.ts";

interface RealClient {
  packages: string[];
  /** The program, relative to node_modules. */
  program: string;
  args: string[];
  /** Matches its output if it read the entry, or connected. */
  expected: RegExp;
  /** The config before, with details that a careless editor would lose. */
  before?: { file: string; text: string };
}

const clients: Record<string, RealClient> = {
  codex: {
    packages: ["@openai/codex"],
    program: ".bin/codex",
    args: ["mcp", "list", "--json"],
    expected: /"name": "mine"[\s\S]*"env_vars": \[\s*"SECRET"/,
    before: { file: ".codex/config.toml", text: '# mine\nmodel = "gpt-5" # the best\n\n[profiles.x]\n' },
  },
  opencode: {
    packages: ["opencode-linux-x64"],
    program: "opencode-linux-x64/bin/opencode",
    args: ["mcp", "list"],
    expected: /mine[\s\S]*connected/,
    before: {
      file: ".config/opencode/opencode.jsonc",
      text: '{\n  // mine\n  "$schema": "https://opencode.ai/config.json", // ends in a comma\n}\n',
    },
  },
  "gemini-cli": {
    packages: ["@google/gemini-cli"],
    program: ".bin/gemini",
    args: ["mcp", "list"],
    expected: /mine: .*Connected/,
    before: { file: ".gemini/settings.json", text: '{\n  // mine\n  "mcpServers": {}\n}\n' },
  },
  "claude-code": {
    packages: ["@anthropic-ai/claude-code"],
    program: "@anthropic-ai/claude-code-linux-x64/claude",
    args: ["mcp", "list"],
    expected: /mine: .*Connected/,
  },
  "copilot-cli": {
    packages: ["@github/copilot"],
    program: ".bin/copilot",
    args: ["mcp", "list", "--json"],
    expected: /"mine": \{/,
  },
  "qwen-code": {
    packages: ["@qwen-code/qwen-code"],
    program: ".bin/qwen",
    args: ["mcp", "list"],
    expected: /mine: .*Connected/,
  },
};

interface Answer {
  failed: boolean;
  text: string;
}

function run(command: string, args: string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Answer> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd, env, timeout: 600_000, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      resolve({ failed: error !== null, text: stdout + stderr });
    });
  });
}

async function tryClient(id: string, client: RealClient, folder: string): Promise<string> {
  const [home, project] = [join(folder, `home-${id}`), join(folder, "project")];
  mkdirSync(home, { recursive: true });
  const { file: existing, text: original } = client.before ?? {};
  if (existing !== undefined && original !== undefined) {
    mkdirSync(dirname(join(home, existing)), { recursive: true });
    writeFileSync(join(home, existing), original);
  }
  const { PATH } = process.env;
  const environment = { PATH, HOME: home, SECRET: "of the environment", GEMINI_CLI_TRUST_WORKSPACE: "true" };
  // The entry and our own state are in that home, too.
  Object.assign(process.env, { HOME: home, XDG_STATE_HOME: join(home, "state") });
  const options = { cwd: project, env: ["LITERAL=1", "SECRET"] };
  const { file } = await applyPlan(await planInstall(id, "mine", options));
  const written = readFileSync(file, "utf8");
  const program = join(folder, "node_modules", client.program);
  const { text } = await run(program, client.args, project, environment);
  if (!client.expected.test(text)) return `does not see the entry:\n${text}`;
  const isUntouched = readFileSync(file, "utf8") === written;
  await applyPlan(await planUninstall(id, "mine", { cwd: project }));
  const left = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  if (left?.includes('"mine"')) return "still has the entry after uninstalling";
  if (isUntouched && left !== original) return `has another file than before:\n${left}`;
  return isUntouched ? "ok, and its file is as it was" : "ok; it rewrote its file itself meanwhile";
}

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(clients);
const folder = mkdtempSync(join(tmpdir(), "trailblaze-clients-"));
try {
  mkdirSync(join(folder, "project"));
  writeFileSync(join(folder, "package.json"), '{ "private": true }');
  writeFileSync(join(folder, "project/package.json"), '{ "name": "app" }');
  writeFileSync(join(folder, "project/trailblaze.config.yaml"), "servers:\n  mine: { tools: [] }\n");
  for (const id of names) {
    const client = clients[id];
    if (client === undefined) throw new Error(`There is no ${id} here.`);
    const install = ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...client.packages];
    const { failed, text } = await run("npm", install, folder, process.env);
    const outcome = failed ? `was not installed:\n${text}` : await tryClient(id, client, folder);
    console.log(`${id} ${outcome}`);
    if (!outcome.startsWith("ok")) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
