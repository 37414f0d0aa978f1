import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client as ModernClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { openSession as OpenSession, Session } from "../src/session.ts";
import { runUsersNpm } from "../test/support/package-managers.ts";
import { makeTemporaryFolder } from "../test/support/temporary-folder.ts";
import { writeTree } from "../test/support/tree.ts";
import { type BenchmarkOptions, compareRounds, runRounds } from "./support/paired-rounds.ts";
import { formatAim, formatRatio, printTable } from "./support/print.ts";
import { RawClient } from "./support/raw-client.ts";
import { runTimed } from "./support/run-process.ts";
import { time, timeCalls } from "./support/time.ts";

const aims = { parallel: 0.8, ready: 1.15, inProcess: 0.7, command: 0.65, label: 1.1 };
/** What starts servers on the command line, too. They are installed for the run, with the Node that mcporter needs. */
const peers = ["mcporter@0.12", "@apify/mcpc@0.2", `node-${process.platform}-${process.arch}@24`];

const server = fileURLToPath(new URL("support/sdk-server.mjs", import.meta.url));
const built = new URL("../dist/session.mjs", import.meta.url);
const command = fileURLToPath(new URL("../dist/cli/cli.cjs", import.meta.url));

const inputSchema = { type: "object", properties: { text: { type: "string" } } };

/** A project that is itself a pack, with one tool, and a server of it. */
function writeProject(folder: string): void {
  writeTree(folder, {
    "package.json": {
      name: "measured",
      version: "1.0.0",
      type: "module",
      trailblaze: { tools: ["local"], servers: ["plain"] },
    },
    "tool.js": "export const echo = ({ text }) => text;\n",
    "trailblaze/tools/local.json": { name: "local", inputSchema, handler: "./tool.js#echo" },
    "trailblaze/servers/plain.json": { tools: ["local"] },
  });
}

const configOf = (count: number, logDir: string) => ({
  logDir,
  callback: { enabled: true },
  trailblazeSubprocessToolsets: Array.from({ length: count }, (_, index) => ({
    name: `server${index}`,
    command: process.execPath,
    args: [server, `echo${index}`],
  })),
});

async function benchStart(openSession: typeof OpenSession, cwd: string, rounds: number): Promise<void> {
  const rows: string[][] = [];
  const open = (count: number) => openSession({ cwd, config: configOf(count, join(cwd, "logs")) });
  const close = (session: Session) => session.close();
  for (const count of [1, 5, 10]) {
    const measured = await runRounds(
      {
        session: () => time(() => open(count), close),
        serial: () =>
          time(
            async () => {
              const sessions: Session[] = [];
              for (let index = 0; index < count; index++) sessions.push(await open(1));
              return sessions;
            },
            (sessions) => Promise.all(sessions.map(close)),
          ),
        raw: () =>
          time(
            async () => {
              const clients = Array.from(
                { length: count },
                (_, index) => new RawClient([server, `echo${index}`]),
              );
              await Promise.all(clients.map((client) => client.ready()));
              return clients;
            },
            (clients) => Promise.all(clients.map((client) => client.close())),
          ),
      },
      rounds,
    );
    const ratio = (base: string) => compareRounds(measured, "session", base, "time");
    const isAim = count === 5;
    rows.push([
      String(count),
      formatRatio(ratio("serial")),
      isAim ? formatAim(ratio("serial"), aims.parallel) : "-",
      formatRatio(ratio("raw")),
      isAim ? formatAim(ratio("raw"), aims.ready) : "-",
    ]);
  }
  printTable(["servers", "session ÷ one after the other", "aim", "÷ raw, all at once", "aim"], rows);
}

/** Whole commands that start a server, list its tools and stop it; mcpc takes three for it, or one while it keeps the server. */
async function benchCommand(cwd: string, rounds: number): Promise<void> {
  const folder = join(cwd, "peers");
  const modules = join(folder, "node_modules");
  const node = join(modules, `node-${process.platform}-${process.arch}/bin/node`);
  writeTree(folder, {
    "package.json": { name: "peers", private: true },
    "trailblaze.config.json": { mcpServers: { echo: { command: node, args: [server, "echo"] } } },
  });
  const { exitCode, stderr } = await runUsersNpm(["install", ...peers, "--no-audit", "--no-fund"], folder);
  if (exitCode !== 0) throw new Error(`${peers.join(", ")} cannot be installed: ${stderr}`);

  const env = { ...process.env, HOME: folder };
  const run = (program: string, args: readonly string[]) =>
    runTimed(node, [program, ...args, "--json"], { cwd: folder, env });
  const list = (program: string, args: readonly string[]) => {
    const { stdout, wall } = run(program, args);
    if (!stdout.includes('"echo"')) throw new Error(`${program} lists no tool`);
    return { time: wall };
  };
  const mcporter = join(modules, "mcporter/dist/cli.js");
  const mcpc = join(modules, "@apify/mcpc/bin/mcpc");
  const config = "trailblaze.config.json";
  const connect = (name: string) => ["connect", `${config}:echo`, name];
  run(mcpc, connect("@warm"));
  try {
    const measured = await runRounds(
      {
        ours: () => list(command, ["tools"]),
        mcporter: () => list(mcporter, ["--config", config, "list", "echo"]),
        cold() {
          const started = run(mcpc, connect("@cold"));
          const listed = list(mcpc, ["@cold", "tools-list"]);
          const closed = run(mcpc, ["close", "@cold"]);
          return { time: started.wall + listed.time + closed.wall };
        },
        warm: () => list(mcpc, ["@warm", "tools-list"]),
      },
      rounds,
    );
    const ratio = (base: string) => compareRounds(measured, "ours", base, "time");
    printTable(
      ["whole command", "÷ mcporter 0.12", "aim", "÷ mcpc, three commands", "÷ mcpc, server kept"],
      [
        [
          "start a server, list its tools, stop it",
          formatRatio(ratio("mcporter")),
          formatAim(ratio("mcporter"), aims.command),
          formatRatio(ratio("cold")),
          formatRatio(ratio("warm")),
        ],
      ],
    );
  } finally {
    run(mcpc, ["close", "@warm"]);
  }
}

/** Whole commands that call a tool by its server's label, which starts that server alone. */
async function benchLabels(cwd: string, rounds: number): Promise<void> {
  const callWith = (count: number) => {
    const folder = join(cwd, `labels${count}`);
    const { trailblazeSubprocessToolsets } = configOf(count, folder);
    writeTree(folder, {
      "package.json": { name: "labels", private: true },
      "trailblaze.config.json": { trailblazeSubprocessToolsets },
    });
    return () => {
      const { stdout, wall } = runTimed(
        process.execPath,
        [command, "call", "server0/echo0", "text=answered", "--json"],
        { cwd: folder },
      );
      if (!stdout.includes("answered")) throw new Error("the tool does not answer");
      return { time: wall };
    };
  };
  const measured = await runRounds({ twelve: callWith(12), one: callWith(1) }, rounds);
  const ratio = compareRounds(measured, "twelve", "one", "time");
  printTable(
    ["whole command", "twelve servers ÷ one", "aim"],
    [["call LABEL/TOOL", formatRatio(ratio), formatAim(ratio, aims.label)]],
  );
}

interface Era {
  name: "legacy" | "modern";
  /** The SDK's bare server of this era. */
  server: string;
  /** The SDK's client of this era, connected to a new process of Node. */
  connect(args: readonly string[], cwd?: string): Promise<SdkClient>;
}

/** What both SDKs' clients can do. */
interface SdkClient {
  listTools(): Promise<unknown>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

const launch = (args: readonly string[], cwd?: string) => ({
  command: process.execPath,
  args: [...args],
  cwd,
});
const info = { name: "sdk", version: "1.0.0" };

const eras: readonly Era[] = [
  {
    name: "legacy",
    server,
    async connect(args, cwd) {
      const client = new Client(info);
      await client.connect(new StdioClientTransport(launch(args, cwd)));
      return client;
    },
  },
  {
    name: "modern",
    server: fileURLToPath(new URL("support/modern-sdk-server.mjs", import.meta.url)),
    async connect(args, cwd) {
      const client = new ModernClient(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
      await client.connect(new ModernStdio(launch(args, cwd)));
      return client;
    },
  },
];

async function measureCalls(openSession: typeof OpenSession, cwd: string, rounds: number, era: Era) {
  const own = { name: "echo", protocol: era.name, ...launch([era.server, "echo"]) };
  const config = { logDir: join(cwd, "logs"), trailblazeSubprocessToolsets: [own] };
  const session = await openSession({ cwd, config });
  const client = await era.connect([era.server, "echo"]);
  const rows: string[][] = [];
  for (const [label, bytes, calls, width, callAim] of [
    ["100 B, one at a time", 100, 300, 1, 1.05],
    ["100 B, 32 at once", 100, 960, 32, 1.1],
    ["1 MB, one at a time", 1_000_000, 8, 1, 1.1],
  ] as const) {
    const call = { name: "echo", arguments: { text: "x".repeat(bytes) } };
    const measured = await runRounds(
      {
        session: () => timeCalls(() => session.callTool(call.name, call.arguments), calls, width),
        sdk: () => timeCalls(() => client.callTool(call), calls, width),
      },
      rounds,
    );
    const ratio = compareRounds(measured, "session", "sdk", "time");
    rows.push([`${era.name}: ${label}`, formatRatio(ratio), formatAim(ratio, callAim)]);
  }
  await Promise.all([session.close(), client.close()]);
  return rows;
}

async function benchCalls(openSession: typeof OpenSession, cwd: string, rounds: number): Promise<void> {
  const rows = [];
  for (const era of eras) rows.push(...(await measureCalls(openSession, cwd, rounds, era)));
  printTable(["tools/call over stdio", "session ÷ the SDK's client", "aim"], rows);
}

async function benchInProcess(openSession: typeof OpenSession, cwd: string, rounds: number): Promise<void> {
  const session = await openSession({ cwd, config: configOf(0, join(cwd, "logs")) });
  const [near, far] = InMemoryTransport.createLinkedPair();
  const memory = new Server({ name: "memory", version: "1.0.0" }, { capabilities: { tools: {} } });
  memory.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
    content: [{ type: "text", text: String(params.arguments?.text) }],
  }));
  const client = new Client({ name: "sdk", version: "1.0.0" });
  await Promise.all([memory.connect(near), client.connect(far)]);
  const args = { text: "x".repeat(100) };
  const measured = await runRounds(
    {
      session: () => timeCalls(() => session.callTool("local", args), 3000, 1),
      memory: () => timeCalls(() => client.callTool({ name: "local", arguments: args }), 3000, 1),
    },
    rounds,
  );
  const ratio = compareRounds(measured, "session", "memory", "time");
  printTable(
    ["a tool in the process", "÷ the SDK's InMemoryTransport", "aim"],
    [["100 B", formatRatio(ratio), formatAim(ratio, aims.inProcess)]],
  );
  await Promise.all([session.close(), client.close()]);
}

/** Sessions against the minimal equivalent, in this process; servers are the SDK's. */
export async function benchSession({ rounds }: BenchmarkOptions): Promise<void> {
  const { openSession } = (await import(built.href)) as { openSession: typeof OpenSession };
  const { path: folder, remove } = makeTemporaryFolder();
  try {
    writeProject(folder);
    await benchStart(openSession, folder, rounds);
    console.log();
    await benchCommand(folder, rounds);
    console.log();
    await benchLabels(folder, rounds);
    console.log();
    await benchCalls(openSession, folder, rounds);
    console.log();
    await benchInProcess(openSession, folder, rounds);
  } finally {
    remove();
  }
}

const serveAims = { oneAtATime: 1.1, atOnce: 1.2 };

async function measureEra({ name, server: bare, connect }: Era, folder: string, rounds: number) {
  const close = (client: SdkClient) => client.close();
  /** Starts a server and lists its tools once. */
  const start = async (args: readonly string[]): Promise<SdkClient> => {
    const client = await connect(args, folder);
    await client.listTools();
    return client;
  };
  const starts = await runRounds(
    {
      served: () => time(() => start([command, "start", "measured/plain"]), close),
      bare: () => time(() => start([bare, "echo"]), close),
    },
    rounds,
  );
  const started = compareRounds(starts, "served", "bare", "time");

  const served = await connect([command, "start", "measured/plain"], folder);
  const sdk = await connect([bare, "echo"], folder);
  const rows = [[`${name}: start to the first tools/list`, formatRatio(started), "-"]];
  for (const [label, calls, width, aim] of [
    ["tools/call, 100 B, one at a time", 300, 1, serveAims.oneAtATime],
    ["tools/call, 100 B, 32 at once", 960, 32, serveAims.atOnce],
  ] as const) {
    const args = { text: "x".repeat(100) };
    const call = (client: SdkClient, name: string) => () => client.callTool({ name, arguments: args });
    const measured = await runRounds(
      {
        served: () => timeCalls(call(served, "local"), calls, width),
        bare: () => timeCalls(call(sdk, "echo"), calls, width),
      },
      rounds,
    );
    const ratio = compareRounds(measured, "served", "bare", "time");
    rows.push([`${name}: ${label}`, formatRatio(ratio), formatAim(ratio, aim)]);
  }
  await Promise.all([served.close(), sdk.close()]);
  return rows;
}

/** The session over stdio to the first `tools/list`, against `openSession` over the same pack and servers. */
async function measureServedSession(folder: string, rounds: number): Promise<void> {
  const connect = eras[0]?.connect;
  if (connect === undefined) throw new Error("There is no era.");
  const entries = ["one", "two", "three"].map((name) => ({
    name,
    command: process.execPath,
    args: [server, name],
  }));
  const config = { logDir: "logs", trailblazeSubprocessToolsets: entries };
  writeTree(folder, { "trailblaze.config.json": config });
  const open = fileURLToPath(new URL("support/open-session.mjs", import.meta.url));
  const measured = await runRounds(
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
  const { path: folder, remove } = makeTemporaryFolder();
  try {
    writeProject(folder);
    const rows = [];
    for (const era of eras) rows.push(...(await measureEra(era, folder, rounds)));
    await measureServedSession(folder, rounds);
    printTable(["", "served ÷ the bare SDK server", "aim"], rows);
  } finally {
    remove();
  }
}
