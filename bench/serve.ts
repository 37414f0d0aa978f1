import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client as ModernClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as LegacyStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { BenchmarkOptions } from "./support/options.ts";
import { compareRounds, runAsyncRounds } from "./support/paired-rounds.ts";
import { formatAim, formatRatio, printTable } from "./support/print.ts";
import { time, timeCalls } from "./support/time.ts";

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

/** The clients of an era, and the SDK's bare server for them. */
interface Era {
  name: string;
  bare: string;
  /** Limits of the ratios: one call at a time, and 32 at once. */
  aims: { oneAtATime: number; atOnce: number };
  connect(args: readonly string[], cwd: string): Promise<Client>;
}

/** What both SDKs' clients can do. */
interface Client {
  listTools(): Promise<unknown>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

const info = { name: "bench", version: "1.0.0" };
const launch = (args: readonly string[], cwd: string) => ({
  command: process.execPath,
  args: [...args],
  cwd,
});

const eras: readonly Era[] = [
  {
    name: "legacy",
    bare: fileURLToPath(new URL("support/sdk-server.mjs", import.meta.url)),
    // 0.45 of the throughput is 2.22 of the time.
    aims: { oneAtATime: 1.1, atOnce: 1.2 },
    async connect(args, cwd) {
      const client = new LegacyClient(info);
      await client.connect(new LegacyStdio(launch(args, cwd)));
      return client;
    },
  },
  {
    name: "modern",
    bare: fileURLToPath(new URL("support/modern-sdk-server.mjs", import.meta.url)),
    aims: { oneAtATime: 1.1, atOnce: 1.2 },
    async connect(args, cwd) {
      const client = new ModernClient(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
      await client.connect(new ModernStdio(launch(args, cwd)));
      return client;
    },
  },
];

async function measureEra({ name, bare, aims, connect }: Era, folder: string, rounds: number) {
  const close = (client: Client) => client.close();
  /** Starts a server and lists its tools once. */
  const start = async (args: readonly string[]): Promise<Client> => {
    const client = await connect(args, folder);
    await client.listTools();
    return client;
  };
  const starts = await runAsyncRounds(
    {
      served: () => time(() => start([command, "start", "measured/plain"]), close),
      bare: () => time(() => start([bare, "echo"]), close),
    },
    rounds,
  );
  const started = compareRounds(starts, "served", "bare", "time");

  const served = await connect([command, "start", "measured/both"], folder);
  const sdk = await connect([bare, "echo"], folder);
  const rows = [[`${name}: start to the first tools/list`, formatRatio(started), "-", "-"]];
  for (const [label, calls, width, aim] of [
    ["tools/call, 100 B, one at a time", 300, 1, aims.oneAtATime],
    ["tools/call, 100 B, 32 at once", 960, 32, aims.atOnce],
  ] as const) {
    const args = { text: "x".repeat(100) };
    const call = (client: Client, tool: string) => () => client.callTool({ name: tool, arguments: args });
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
    rows.push([`${name}: ${label}`, formatRatio(ratio), formatAim(ratio, aim), formatRatio(entry)]);
  }
  await Promise.all([served.close(), sdk.close()]);
  return rows;
}

/** The session over stdio to the first `tools/list`, against `openSession` over the same pack and servers. */
async function measureSession(folder: string, rounds: number): Promise<void> {
  const connect = eras[0]?.connect;
  if (connect === undefined) throw new Error("There is no era.");
  const entries = ["one", "two", "three"].map((name) => ({
    name,
    command: process.execPath,
    args: [fileURLToPath(new URL("support/sdk-server.mjs", import.meta.url)), name],
  }));
  const config = { logDir: "logs", trailblazeSubprocessToolsets: entries };
  writeFileSync(join(folder, "trailblaze.config.json"), JSON.stringify(config));
  const open = fileURLToPath(new URL("support/open-session.mjs", import.meta.url));
  const measured = await runAsyncRounds(
    {
      served: () =>
        time(
          async () => {
            const client = await connect([command, "start", "--no-watch"], folder);
            await client.listTools();
            return client;
          },
          (client) => client.close(),
        ),
      opened: () =>
        time(
          async () => {
            const child = spawn(process.execPath, [open], {
              cwd: folder,
              stdio: ["ignore", "pipe", "inherit"],
            });
            await once(child.stdout, "data");
            return child;
          },
          (child) => once(child, "exit"),
        ),
    },
    rounds,
  );
  const ratio = compareRounds(measured, "served", "opened", "time");
  const rows = [["start to the first tools/list, 3 servers", formatRatio(ratio), formatAim(ratio, 1.1)]];
  printTable(["", "served session ÷ openSession", "aim"], rows);
  console.log();
}

/** A served pack against the bare server of each SDK with the same tool, both called by that SDK's client. */
export async function benchServe({ rounds }: BenchmarkOptions): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "trailblaze-bench-")));
  try {
    writePack(folder);
    const rows = [];
    for (const era of eras) rows.push(...(await measureEra(era, folder, rounds)));
    await measureSession(folder, rounds);
    printTable(["", "served ÷ the bare SDK server", "aim", "entry of a bundle ÷ its handler"], rows);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
