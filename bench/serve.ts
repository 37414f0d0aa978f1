import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { BenchmarkOptions } from "./support/options.ts";
import { compareRounds, runAsyncRounds } from "./support/paired-rounds.ts";
import { formatAim, formatRatio, printTable } from "./support/print.ts";
import { time, timeCalls } from "./support/time.ts";

/** At 32 at once, 0.45 of the throughput is 2.22 of the time. */
const aims = { oneAtATime: 2.5, atOnce: 2.22 };

const bare = fileURLToPath(new URL("support/sdk-server.mjs", import.meta.url));
const command = fileURLToPath(new URL("../dist/cli/cli.cjs", import.meta.url));

const inputSchema = { type: "object", properties: { text: { type: "string" } } };

/** A pack with a tool, and a bundle with an entry that passes its argument to the same handler. */
function writePack(folder: string): void {
  const files: Readonly<Record<string, unknown>> = {
    "package.json": {
      name: "measured",
      version: "1.0.0",
      type: "module",
      trailblaze: { tools: ["echo"], toolsets: ["Bundle"], servers: ["plain", "both"] },
    },
    "tool.js": "export const echo = ({ text }) => text;\n",
    "trailblaze/tools/echo.json": { name: "echo", inputSchema, handler: "./tool.js#echo" },
    "trailblaze/toolsets/Bundle.json": {
      kind: "Mcp.Tools",
      metadata: { name: "Bundle" },
      entries: [
        {
          name: "entry",
          argumentsSchema: inputSchema,
          handler: "./tool.js#echo",
          inputs: { text: "${{ request.arguments.text }}" },
          result: { content: [{ type: "text", text: "${{ result }}" }] },
        },
      ],
    },
    "trailblaze/servers/plain.json": { tools: ["echo"] },
    "trailblaze/servers/both.json": { tools: ["echo"], toolsets: ["Bundle"] },
  };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), typeof content === "string" ? content : JSON.stringify(content));
  }
}

async function connect(args: readonly string[], cwd: string): Promise<Client> {
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [...args], cwd }));
  return client;
}

/** Starts a server and lists its tools once. */
async function start(args: readonly string[], cwd: string): Promise<Client> {
  const client = await connect(args, cwd);
  await client.listTools();
  return client;
}

/** A served pack against the SDK's bare server with the same tool, both called by the SDK's client. */
export async function benchServe({ rounds }: BenchmarkOptions): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "trailblaze-bench-")));
  try {
    writePack(folder);
    const close = (client: Client) => client.close();
    const starts = await runAsyncRounds(
      {
        served: () => time(() => start([command, "start", "measured/plain"], folder), close),
        bare: () => time(() => start([bare, "echo"], folder), close),
      },
      rounds,
    );
    const started = compareRounds(starts, "served", "bare", "time");

    const served = await connect([command, "start", "measured/both"], folder);
    const sdk = await connect([bare, "echo"], folder);
    const rows = [["start to the first tools/list", formatRatio(started), "-", "-"]];
    for (const [label, calls, width, aim] of [
      ["tools/call, 100 B, one at a time", 300, 1, aims.oneAtATime],
      ["tools/call, 100 B, 32 at once", 960, 32, aims.atOnce],
    ] as const) {
      const args = { text: "x".repeat(100) };
      const call = (client: Client, name: string) => () => client.callTool({ name, arguments: args });
      const measured = await runAsyncRounds(
        {
          served: () => timeCalls(call(served, "echo"), calls, width),
          entry: () => timeCalls(call(served, "entry"), calls, width),
          bare: () => timeCalls(call(sdk, "echo"), calls, width),
        },
        rounds,
      );
      const ratio = compareRounds(measured, "served", "bare", "time");
      const entry = compareRounds(measured, "entry", "served", "time");
      rows.push([label, formatRatio(ratio), formatAim(ratio, aim), formatRatio(entry)]);
    }
    printTable(["", "served ÷ the bare SDK server", "aim", "entry of a bundle ÷ its handler"], rows);
    await Promise.all([served.close(), sdk.close()]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
