// Installs twelve real MCP servers from npm into a temporary project, serves them as one with `trailblaze start`, and calls
// a tool of each through a client. Opt-in, because they take 400 packages. With a folder, uses what is installed there:
//   npm run build && npx tsx scripts/try-real-servers.ts [folder]
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

interface RealServer {
  package: string;
  args?: string[];
  /** Keys of services, which the servers require at their start and nothing here uses. */
  env?: Record<string, string>;
  /** Its own name of a tool, and arguments. */
  call: [tool: string, args?: Record<string, unknown>];
  /** The tool calls a service or a browser, so that its answer may be an error. */
  mayFail?: boolean;
}

const [given] = process.argv.slice(2);
const folder =
  given === undefined ? realpathSync(mkdtempSync(join(tmpdir(), "real-servers-"))) : resolve(given);
const lintedFile = join(folder, "eslint.config.mjs");

const thought = { thought: "x", thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false };
const servers: Record<string, RealServer> = {
  everything: { package: "@modelcontextprotocol/server-everything", call: ["echo", { message: "hi" }] },
  filesystem: {
    package: "@modelcontextprotocol/server-filesystem",
    args: ["."],
    call: ["list_allowed_directories"],
  },
  memory: { package: "@modelcontextprotocol/server-memory", call: ["read_graph"] },
  thinking: {
    package: "@modelcontextprotocol/server-sequential-thinking",
    call: ["sequentialthinking", thought],
  },
  eslint: { package: "@eslint/mcp", call: ["lint-files", { filePaths: [lintedFile] }] },
  playwright: { package: "@playwright/mcp", call: ["browser_close"], mayFail: true },
  chrome: { package: "chrome-devtools-mcp", call: ["list_pages"], mayFail: true },
  chart: {
    package: "@antv/mcp-server-chart",
    call: ["generate_pie_chart", { data: [{ category: "a", value: 1 }] }],
    mayFail: true,
  },
  context7: {
    package: "@upstash/context7-mcp",
    call: ["resolve-library-id", { query: "x", libraryName: "x" }],
    mayFail: true,
  },
  notion: {
    package: "@notionhq/notion-mcp-server",
    env: { NOTION_TOKEN: "none" },
    call: ["API-get-self"],
    mayFail: true,
  },
  firecrawl: {
    package: "firecrawl-mcp",
    env: { FIRECRAWL_API_KEY: "none" },
    call: ["firecrawl_check_crawl_status", { id: "x" }],
    mayFail: true,
  },
  tavily: {
    package: "tavily-mcp",
    env: { TAVILY_API_KEY: "none" },
    call: ["tavily_extract", { urls: ["http://127.0.0.1:1"] }],
    mayFail: true,
  },
};

const home = join(folder, "home");
mkdirSync(home, { recursive: true });
if (given === undefined) {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "real-servers", version: "1.0.0" }));
  const packages = Object.values(servers).map((server) => server.package);
  execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...packages], {
    cwd: folder,
    stdio: "inherit",
  });
}
const entries = Object.entries(servers).map(([name, { package: from, args = [], env = {} }]) => ({
  name,
  package: from,
  args,
  env,
}));
const config = { logDir: "logs", trailblazeSubprocessToolsets: entries };
writeFileSync(join(folder, "trailblaze.config.json"), JSON.stringify(config));
writeFileSync(lintedFile, "export default [];\n");

const command = fileURLToPath(new URL("../dist/cli/cli.cjs", import.meta.url));
const { PATH = "" } = process.env;
const start = performance.now();
const transport = new StdioClientTransport({
  command: process.execPath,
  args: [command, "start"],
  cwd: folder,
  env: { PATH, HOME: home },
  stderr: "inherit",
});
const client = new Client({ name: "trying", version: "1.0.0" });
await client.connect(transport);
const seconds = () => ((performance.now() - start) / 1000).toFixed(1);
console.log(`initialize: ${seconds()} s`);

/** Every tool, from all pages. */
async function listTools() {
  const all = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    all.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all;
}

try {
  const tools = await listTools();
  console.log(`tools/list: ${tools.length} tools after ${seconds()} s`);
  const names = tools.map(({ name }) => name);
  const invalid = names.filter((name) => !/^[A-Za-z0-9_-]{1,64}$/.test(name));
  if (new Set(names).size !== names.length || invalid.length > 0) {
    throw new Error(`Names are not unique or invalid: ${invalid.join(", ")}`);
  }
  for (const [label, { call, mayFail = false }] of Object.entries(servers)) {
    const [tool, args = {}] = call;
    const name = names.find((one) => one === tool || one === `${label}_${tool}`);
    if (name === undefined) throw new Error(`${label}: no tool ${tool} among ${names.join(", ")}`);
    const { isError = false, content, _meta } = await client.callTool({ name, arguments: args });
    const [first] = content as { text?: string }[];
    const text = (first?.text ?? "").replace(/\s+/g, " ").slice(0, 60);
    console.log(`${isError ? "error  " : "success"} ${name}: ${text}`);
    const { variant } = (_meta?.trailblaze ?? {}) as { variant?: string };
    if (isError && (!mayFail || variant === "FatalError")) process.exitCode = 1;
  }
} finally {
  await client.close();
  if (given === undefined) rmSync(folder, { recursive: true });
}
