// Installs old and new releases of real MCP servers from npm, approves the old one, and checks what a session with that lock
// makes of the new one, against a comparison of what both releases say: a tool that differs must be left out, and no other
// tool. Opt-in, because it takes many packages:
//   npm run build && npx tsx scripts/compare-releases.ts [package…]
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual, promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ResultSchema } from "@modelcontextprotocol/sdk/types.js";

interface RealServer {
  args?: string[];
  /** Keys of services, which the servers require at their start and nothing here uses. */
  env?: Record<string, string>;
  releases: [from: string, to: string][];
}

const servers: Record<string, RealServer> = {
  "@modelcontextprotocol/server-everything": {
    releases: [
      ["2026.1.26", "2026.7.4"],
      ["2026.8.18", "2026.8.31"],
    ],
  },
  "@modelcontextprotocol/server-filesystem": {
    args: ["."],
    releases: [
      ["2025.8.18", "2025.8.21"],
      ["2026.7.10", "2026.8.31"],
    ],
  },
  "@modelcontextprotocol/server-memory": {
    releases: [
      ["2025.11.25", "2026.1.26"],
      ["2026.7.4", "2026.8.31"],
    ],
  },
  "@modelcontextprotocol/server-sequential-thinking": { releases: [["2026.7.4", "2026.8.31"]] },
  "@eslint/mcp": {
    releases: [
      ["0.1.1", "0.2.0"],
      ["0.3.12", "0.3.13"],
    ],
  },
  "@playwright/mcp": {
    releases: [
      ["0.0.75", "0.0.76"],
      ["0.0.82", "0.0.83"],
    ],
  },
  "chrome-devtools-mcp": { releases: [["1.10.1", "1.11.0"]] },
  "@upstash/context7-mcp": {
    releases: [
      ["3.2.4", "3.2.5"],
      ["4.1.0", "4.1.1"],
    ],
  },
  "@notionhq/notion-mcp-server": {
    env: { NOTION_TOKEN: "none" },
    releases: [
      ["2.4.0", "2.4.1"],
      ["2.5.1", "2.5.2"],
    ],
  },
  "firecrawl-mcp": {
    env: { FIRECRAWL_API_KEY: "none" },
    releases: [
      ["3.22.2", "3.22.3"],
      ["3.25.2", "3.25.3"],
    ],
  },
  "tavily-mcp": {
    env: { TAVILY_API_KEY: "none" },
    releases: [
      ["0.2.20", "0.2.21"],
      ["0.2.21", "0.2.22"],
    ],
  },
};

const command = fileURLToPath(new URL("../dist/cli/cli.cjs", import.meta.url));
const run = promisify(execFile);
type Tool = Record<string, unknown> & { name: string };

/** What an installed server says, without Trailblaze. */
async function ask(cwd: string, name: string, { args = [], env = {} }: RealServer) {
  const root = join(cwd, "node_modules", name);
  const { bin } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const script: string =
    typeof bin === "string" ? bin : (bin[name.replace(/^.*\//, "")] ?? Object.values(bin)[0]);
  const client = new Client({ name: "comparing", version: "1.0.0" });
  const { PATH = "" } = process.env;
  const launch = { command: process.execPath, args: [join(root, script), ...args] };
  await client.connect(
    new StdioClientTransport({
      ...launch,
      cwd,
      env: { PATH, HOME: join(cwd, "home"), ...env },
      stderr: "ignore",
    }),
  );
  const tools: Tool[] = [];
  let cursor: unknown;
  do {
    const params = cursor === undefined ? {} : { cursor };
    const page = await client.request({ method: "tools/list", params }, ResultSchema);
    tools.push(...(page.tools as Tool[]));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  await client.close();
  return { instructions: client.getInstructions(), tools: new Map(tools.map((tool) => [tool.name, tool])) };
}

const isEmpty = (value: unknown) =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;

/** What models see of a tool. An empty object says as much as an absent one. */
const seen = (tool: Tool | undefined) =>
  ["title", "description", "inputSchema", "outputSchema", "annotations"].map((key) =>
    isEmpty(tool?.[key]) ? undefined : tool?.[key],
  );

interface SessionAnswer {
  tools: { name: string }[];
  skipped: { name: string; reason: string }[];
}

/** What a session with the lock uses of a server, and what it leaves out. */
async function openLocked(cwd: string) {
  const { stdout } = await run(process.execPath, [command, "tools", "--json"], { cwd, maxBuffer: 1 << 28 });
  const { tools, skipped } = JSON.parse(stdout) as SessionAnswer;
  const refused = skipped.filter(({ reason }) => reason === "NotApproved");
  return { used: tools.map(({ name }) => name), refused: refused.map(({ name }) => name) };
}

async function compare(name: string, server: RealServer, from: string, to: string) {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "releases-")));
  try {
    mkdirSync(join(cwd, "home"));
    writeFileSync(join(cwd, "package.json"), JSON.stringify({ name: "releases", version: "1.0.0" }));
    const { args = [], env = {} } = server;
    const config = { logDir: "logs", mcpServers: { it: { package: name, args, env } } };
    writeFileSync(join(cwd, "trailblaze.config.json"), JSON.stringify(config));
    const install = (version: string) =>
      run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", `${name}@${version}`], { cwd });

    await install(from);
    const before = await ask(cwd, name, server);
    await run(process.execPath, [command, "approve", "--all", "--yes"], { cwd });
    const same = await openLocked(cwd);
    await install(to);
    const after = await ask(cwd, name, server);
    const { used, refused } = await openLocked(cwd);

    const all = [...after.tools.keys()];
    const isWhole = before.instructions !== after.instructions;
    const differs = (tool: string) =>
      isWhole || !isDeepStrictEqual(seen(before.tools.get(tool)), seen(after.tools.get(tool)));
    return {
      tools: all.length,
      different: isWhole ? "instructions" : String(all.filter(differs).length),
      /** Left out without a reason, right after the approval or later. */
      wrong: [...same.refused, ...all.filter((tool) => !differs(tool) && refused.includes(tool))],
      missed: all.filter((tool) => differs(tool) && used.includes(tool)),
      refused: refused.length,
    };
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

const names = process.argv.slice(2);
console.log(
  "| package | releases | tools | differ | left out | wrongly | missed |\n|---|---|---|---|---|---|---|",
);
for (const [name, server] of Object.entries(servers)) {
  if (names.length > 0 && !names.includes(name)) continue;
  for (const [from, to] of server.releases) {
    const compared = await compare(name, server, from, to).catch(
      (error: unknown) => String(error).split("\n")[0],
    );
    if (typeof compared !== "object") {
      console.log(`| ${name} | ${from} → ${to} | ${compared} | | | | |`);
      process.exitCode = 1;
      continue;
    }
    const { tools, different, refused, wrong, missed } = compared;
    const cells = [name, `${from} → ${to}`, tools, different, refused, wrong.join(", "), missed.join(", ")];
    console.log(`| ${cells.join(" | ")} |`);
    if (wrong.length > 0 || missed.length > 0) process.exitCode = 1;
  }
}
