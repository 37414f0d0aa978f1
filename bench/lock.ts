import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BenchmarkOptions } from "./support/options.ts";
import { compareRounds, type Rounds, runPairedRounds } from "./support/paired-rounds.ts";
import { formatAim, formatCount, formatRatio, printTable } from "./support/print.ts";
import { runTimed } from "./support/run-process.ts";

const aim = 1.05;
const toolsPerPack = 10;
const serverCount = 5;

const command = fileURLToPath(new URL("../dist/cli/cli.cjs", import.meta.url));
const server = fileURLToPath(new URL("support/listing-server.mjs", import.meta.url));
const opener = fileURLToPath(new URL("support/time-session.mjs", import.meta.url));

function writeFiles(folder: string, files: Readonly<Record<string, unknown>>): void {
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content, null, 2));
  }
}

/** A tool with as much text and as many parameters as is usual. */
const defineTool = (name: string) => ({
  name,
  title: "Look up",
  description: "Look up an issue by its key.\nReturns its fields, its comments and who works on it.",
  inputSchema: {
    type: "object",
    properties: {
      key: { type: "string", description: "The key of the issue, such as DEMO-1.", minLength: 1 },
      fields: { type: "array", items: { type: "string" }, description: "The fields to return." },
      limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
      sort: { type: "string", enum: ["created", "updated", "priority"] },
    },
    required: ["key"],
  },
  annotations: { readOnlyHint: true },
  handler: "./handlers.js#handle",
});

/** A project with installed packs, each with ten tools that are data, and the lockfile that npm would write. */
function writePacks(folder: string, tools: number): void {
  const packs = Array.from({ length: tools / toolsPerPack }, (_, index) => `pack-${index}`);
  const versions = Object.fromEntries(packs.map((name) => [name, "1.0.0"]));
  const integrity = `sha512-${"A".repeat(86)}==`;
  writeFiles(folder, {
    "package.json": { name: "measured", version: "1.0.0", dependencies: versions },
    "package-lock.json": {
      name: "measured",
      version: "1.0.0",
      lockfileVersion: 3,
      packages: Object.fromEntries(
        packs.map((name) => [`node_modules/${name}`, { version: "1.0.0", integrity }]),
      ),
    },
  });
  for (const pack of packs) {
    const names = Array.from({ length: toolsPerPack }, (_, index) => `${pack}_tool${index}`);
    writeFiles(join(folder, "node_modules", pack), {
      "package.json": { name: pack, version: "1.0.0", type: "module", trailblaze: { tools: names } },
      "handlers.js": "export const handle = () => {};\n",
      ...Object.fromEntries(names.map((name) => [`trailblaze/tools/${name}.json`, defineTool(name)])),
    });
  }
}

/** A project whose config has servers, each with many tools. */
function writeServers(folder: string, tools: number): void {
  const names = Array.from({ length: serverCount }, (_, index) => `server${index}`);
  const launch = (name: string) => ({ command: process.execPath, args: [server, `${name}.json`] });
  writeFiles(folder, {
    "package.json": { name: "measured", version: "1.0.0" },
    "trailblaze.config.json": {
      logDir: "logs",
      mcpServers: Object.fromEntries(names.map((name) => [name, launch(name)])),
    },
    ...Object.fromEntries(
      names.map((name) => {
        const listed = Array.from({ length: tools / serverCount }, (_, index) => {
          const { handler: _handler, ...tool } = defineTool(`${name}_tool${index}`);
          return tool;
        });
        return [`${name}.json`, listed];
      }),
    ),
  });
}

function openOnce(cwd: string, tools: number) {
  const { stdout } = runTimed(process.execPath, [opener], { cwd });
  const sample = JSON.parse(stdout) as { wall: number; cpu: number; tools: number; skipped: number };
  if (sample.tools !== tools || sample.skipped > 0) throw new Error(`the session has ${sample.tools} tools`);
  return sample;
}

const projects = [
  { tools: 300, from: "30 packs", write: writePacks },
  { tools: 300, from: "5 servers", write: writeServers },
  { tools: 5000, from: "500 packs", write: writePacks },
] as const;

const lowest = (rounds: Rounds<"wall" | "cpu">, name: string, metric: "wall" | "cpu") =>
  Math.min(...(rounds.get(name) ?? []).map((sample) => sample[metric]));

/** The start of a session with a lock that approves all of its tools, against the same session without a lock. */
export async function benchLock({ rounds, cpu }: BenchmarkOptions): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "trailblaze-bench-")));
  const metric = cpu ? "cpu" : "wall";
  try {
    const rows = projects.map(({ tools, from, write }) => {
      const cwd = join(folder, `${tools}-${from}`);
      write(cwd, tools);
      runTimed(process.execPath, [command, "approve", "--all", "--yes"], { cwd });
      const [lock, away] = [join(cwd, "trailblaze.lock"), join(cwd, "unused.lock")];
      const measured = runPairedRounds(
        {
          locked: () => openOnce(cwd, tools),
          free: () => {
            renameSync(lock, away);
            try {
              return openOnce(cwd, tools);
            } finally {
              renameSync(away, lock);
            }
          },
        },
        rounds,
      );
      const ratio = compareRounds(measured, "locked", "free", metric);
      const minimum = lowest(measured, "locked", metric) / lowest(measured, "free", metric);
      return [
        `${formatCount(tools)} of ${from}`,
        formatRatio(ratio),
        minimum.toFixed(2),
        formatAim(ratio, aim),
      ];
    });
    printTable(["tools", "with a lock ÷ without", "lowest ÷ lowest", "aim"], rows);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
