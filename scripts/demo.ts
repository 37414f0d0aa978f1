// Packs the sample packs, installs them into a project with npm, and runs the installed command there. Without
// `--verbose`, it prints only the lines that matter; `--keep` keeps the project.
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { runUsersNpm } from "../test/support/package-managers.ts";
import { inRepository } from "../test/support/repository.ts";
import { runProcess } from "../test/support/run-process.ts";
import { samplePack, samplePacks } from "../test/support/sample-packs.ts";
import { serveOverHttp } from "../test/support/serve-over-http.ts";
import { writeTree } from "../test/support/tree.ts";

/** An MCP server that is not in a pack, and not listed as one: its command is in the project's config. */
const otherServer = "@modelcontextprotocol/server-everything";
const config = `device: { platform: WEB, widthPixels: 1280, heightPixels: 800, driverType: playwright-native }
trailblazeSubprocessToolsets:
  - { name: everything, command: node, args: ["./node_modules/${otherServer}/dist/index.js"] }
`;

const packNames = samplePacks.map(({ name }) => name);
const server = "globex/release-desk/release-desk";

interface Step {
  readonly args: readonly string[];
  /** Default: 0. */
  readonly exitCode?: number;
  /** Texts that the output must contain; without --verbose, their lines are printed. */
  readonly shows: readonly string[];
  /** A text that the output must not contain. */
  readonly hides?: string;
}

/** Steps that make one point. */
const scenes: Readonly<Record<string, readonly Step[]>> = {
  "Packs are npm packages with a `trailblaze` field. `list` omits other packages.": [
    { args: ["list"], shows: packNames, hides: otherServer },
  ],
  "Look inside packs before you run their code. A server can combine tools of several packs.": [
    { args: ["list", "tools"], shows: ["acme/jira/createIssue", "hello-tools/greet"] },
    { args: ["inspect", "@acme/jira"], shows: ["acme/jira/createIssue"] },
    { args: ["inspect", "acme/jira/createIssue"], shows: ["summary"] },
    { args: ["inspect", server], shows: ["acme/jira/createIssue", "hello-tools/greet"] },
  ],
  "Authors validate packs before they publish them, and every problem is explained.": [
    { args: ["validate", "@acme/jira", "--strict"], shows: ["is valid"] },
    { args: ["explain", "HandlerNotFound"], shows: ["Fix:"] },
  ],
  "A session offers the tools of packs and of any other MCP server in the config.": [
    { args: ["doctor"], shows: ["4 of 4 started"] },
    { args: ["tools"], shows: ["hello_greet", "jira_createIssue", "get-sum"] },
  ],
  "Call a tool of a pack, of the other server, and of a pack's own server. Then replay two of the calls.": [
    { args: ["call", "hello_greet", "name=Ada", "--record", "trail.yaml"], shows: ["Hello, Ada!"] },
    { args: ["call", "get-sum", "a=2", "b=3", "--record", "trail.yaml"], shows: ["2 and 3 is 5"] },
    { args: ["call", "shop_reserve", "article=Teapot", "count=2"], shows: ["Reserved 2 × Teapot"] },
    { args: ["run", "trail.yaml"], shows: ["2 of 2 steps succeeded"] },
  ],
};

const isVerbose = process.argv.includes("--verbose");
let count = 0;

async function npm(args: readonly string[], cwd: string): Promise<string> {
  const { stdout, stderr, exitCode } = await runUsersNpm(args, cwd);
  if (exitCode !== 0) throw new Error(`npm ${args[0]} ended with exit code ${exitCode}\n${stdout}${stderr}`);
  return stdout;
}

/** Packs folders with npm. Returns the paths of the tarballs. */
async function pack(folders: readonly string[], destination: string): Promise<string[]> {
  mkdirSync(destination, { recursive: true });
  const options = ["--json", "--ignore-scripts", "--pack-destination", destination];
  const packed = JSON.parse(await npm(["pack", ...folders, ...options], inRepository("."))) as {
    filename: string;
  }[];
  return packed.map(({ filename }) => join(destination, filename));
}

const installOptions = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];

const scriptIn = (project: string) => join(project, "node_modules/.bin/trailblaze");

async function runStep(step: Step, project: string, env = process.env): Promise<void> {
  const { args, exitCode = 0, shows, hides } = step;
  const command = ["trailblaze", ...args].join(" ");
  console.log(`$ ${command}`);
  const run = await runProcess(scriptIn(project), args, { cwd: project, env, timeoutMs: 30_000 });
  const output = `${run.stdout}${run.stderr}`;
  const lines = shows.map((text) => output.split("\n").find((line) => line.includes(text)));
  const isExpected = run.exitCode === exitCode && !lines.includes(undefined);
  if (!isExpected || (hides !== undefined && output.includes(hides)))
    throw new Error(`${command} ended with exit code ${run.exitCode}, and printed\n${output}`);
  console.log(isVerbose ? output.trimEnd() : [...new Set(lines.map((line) => line?.trim()))].join("\n"));
  count += 1;
}

/** Connects an MCP client and uses it. */
async function useClient(transport: Transport, use: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ name: "demo", version: "1.0.0" });
  await client.connect(transport);
  try {
    await use(client);
  } finally {
    await client.close();
  }
}

async function greet(client: Client, expected: string): Promise<void> {
  const { content } = await client.callTool({ name: "hello_greet", arguments: { name: "Ada" } });
  const [block] = content as { text?: string }[];
  if (block?.text !== expected) throw new Error(`hello_greet answered ${JSON.stringify(content)}`);
  console.log(`the client calls hello_greet: ${block.text}`);
  count += 1;
}

const listNames = async (client: Client) =>
  (await client.listTools()).tools.map(({ name }) => name).join(", ") || "no tools";

/** The next version of the pack: it has another tool, and greets in other words. */
function writeUpdate(folder: string): void {
  cpSync(samplePack("hello-tools").folder, folder, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const tool = JSON.parse(readFileSync(join(folder, "trailblaze/tools/greet.json"), "utf8"));
  writeTree(folder, {
    "package.json": { ...manifest, version: "1.1.0", trailblaze: { tools: ["greet", "welcome"] } },
    "trailblaze/tools/welcome.json": { ...tool, name: "hello_welcome", description: "Welcome somebody." },
    "lib/greet.js": "export default ({ name }) => `Welcome, ${name}!`;\n",
  });
}

/** Installs, updates and removes a pack while a client is connected to the project's session. */
async function demonstrateSession(directory: string, script: string): Promise<void> {
  const project = join(directory, "live");
  writeTree(project, { "package.json": { name: "live", version: "1.0.0", private: true } });
  writeUpdate(join(directory, "update"));
  const [first = ""] = await pack([samplePack("hello-tools").folder], join(directory, "first"));
  const [second = ""] = await pack([join(directory, "update")], join(directory, "second"));
  const transport = new StdioClientTransport({
    command: script,
    args: ["start", "--cwd", project],
    stderr: "ignore",
  });
  await useClient(transport, async (client) => {
    /** Runs npm, and waits until the client is told that it has the expected tools. */
    const change = async (shown: string, args: readonly string[], expected: string) => {
      const told = new Promise<void>((resolve, reject) => {
        const limit = setTimeout(() => reject(new Error(`${shown} did not reach the client`)), 60_000);
        client.setNotificationHandler(ToolListChangedNotificationSchema, async () => {
          if ((await listNames(client)) !== expected) return;
          clearTimeout(limit);
          resolve();
        });
      });
      await npm([...args, ...installOptions], project);
      await told;
      console.log(`$ ${shown}\nthe client sees: ${expected}`);
      count += 1;
    };
    await change("npm install hello-tools", ["install", first], "hello_greet");
    await change("npm install hello-tools@1.1", ["install", second], "hello_greet, hello_welcome");
    await greet(client, "Welcome, Ada!");
    await change("npm uninstall hello-tools", ["uninstall", "hello-tools"], "no tools");
  });
}

/** Installs a server into a client's config, starts it as the client would, and uninstalls it. */
async function demonstrateInstall(project: string, home: string): Promise<void> {
  const original =
    '{\n    "theme": "dark",\n    "mcpServers": {\n        "mine": { "command": "my-server" }\n    }\n}\n';
  writeTree(home, { ".claude.json": original });
  const { CLAUDE_CONFIG_DIR: _config, XDG_STATE_HOME: _state, ...rest } = process.env;
  const env = { ...rest, HOME: home };
  const read = () => readFileSync(join(home, ".claude.json"), "utf8");
  await runStep({ args: ["install", "claude-code", server], shows: ["Installed"] }, project, env);
  const { command, args } = JSON.parse(read()).mcpServers["release-desk"];
  await useClient(new StdioClientTransport({ command, args, stderr: "ignore" }), async (client) => {
    await greet(client, "Hello, Ada!");
  });
  await runStep({ args: ["uninstall", "claude-code", server], shows: ["Uninstalled"] }, project, env);
  if (read() !== original) throw new Error("The config was not restored");
  console.log("The config is restored byte for byte.");
}

/** Copies an approved skill into a client's folder, changes it, and copies again. */
async function demonstrateSkills(project: string): Promise<void> {
  const args = ["install", "claude-code", "--skills"];
  await runStep({ args: ["approve", "@globex/handbook", "--yes"], shows: ["Approved"] }, project);
  await runStep({ args, shows: ["Installed: answering-questions"] }, project);
  const file = "node_modules/@globex/handbook/skills/answering-questions/SKILL.md";
  appendFileSync(join(project, file), "Agree with who asks.\n");
  await runStep({ args, shows: ["NotApproved", "Removed: answering-questions"] }, project);
}

async function demonstrate(directory: string): Promise<void> {
  console.log(`Packing ${packNames.length} sample packs and the host, then installing them with npm …`);
  const folders = [".", "packages/scripting"].map(inRepository);
  const tarballs = await pack(
    [...folders, ...samplePacks.map(({ folder }) => folder)],
    join(directory, "tarballs"),
  );
  const project = join(directory, "project");
  writeTree(project, { "package.json": { name: "demo", version: "1.0.0", private: true } });
  await npm(["install", ...tarballs, otherServer, ...installOptions], project);
  writeTree(project, { "trailblaze.config.yaml": config });
  for (const [title, steps] of Object.entries(scenes)) {
    console.log(`\n# ${title}`);
    for (const step of steps) await runStep(step, project);
  }

  console.log("\n# Any MCP client can use a server, over stdio or HTTP.");
  const serving = await serveOverHttp(server, { cwd: project, script: scriptIn(project) });
  try {
    await useClient(new StreamableHTTPClientTransport(new URL(serving.url)), async (client) => {
      console.log(`the client sees: ${await listNames(client)}`);
      await greet(client, "Hello, Ada!");
    });
  } finally {
    await serving.stop();
  }
  console.log("\n# A client that is connected to the session sees what npm installs, without a restart.");
  await demonstrateSession(directory, scriptIn(project));
  console.log("\n# Install the server into an MCP client. The entry in the client's config starts it.");
  await demonstrateInstall(project, join(directory, "home"));
  console.log("\n# A skill is approved by its content: one that has changed is refused.");
  await demonstrateSkills(project);
}

const keep = process.argv.includes("--keep");
const directory = realpathSync(mkdtempSync(join(tmpdir(), "trailblaze-demo-")));
try {
  await demonstrate(directory);
  console.log(`\nAll ${count} commands succeeded.`);
  if (keep) console.log(`The project is in ${join(directory, "project")}. Run the commands there with npx.`);
} catch (error) {
  console.error(`\nThe demo failed: ${(error as Error).message}`);
  process.exitCode = 1;
} finally {
  if (!keep) rmSync(directory, { recursive: true, force: true });
}
