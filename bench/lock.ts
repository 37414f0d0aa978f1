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

const command = fileURLToPath(new URL("../dist/cli/cli.cjs", import.meta.url));
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
function writeProject(folder: string, tools: number): void {
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

function openOnce(cwd: string, tools: number) {
  const { stdout } = runTimed(process.execPath, [opener], { cwd });
  const sample = JSON.parse(stdout) as { wall: number; cpu: number; tools: number; skipped: number };
  if (sample.tools !== tools || sample.skipped > 0) throw new Error(`the session has ${sample.tools} tools`);
  return sample;
}

const lowest = (rounds: Rounds<"wall" | "cpu">, name: string, metric: "wall" | "cpu") =>
  Math.min(...(rounds.get(name) ?? []).map((sample) => sample[metric]));

/** The start of a session with a lock that approves all of its tools, against the same session without a lock. */
export async function benchLock({ rounds, cpu }: BenchmarkOptions): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "trailblaze-bench-")));
  const metric = cpu ? "cpu" : "wall";
  try {
    const rows = [300, 5000].map((tools) => {
      const cwd = join(folder, String(tools));
      writeProject(cwd, tools);
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
      return [formatCount(tools), formatRatio(ratio), minimum.toFixed(2), formatAim(ratio, aim)];
    });
    printTable(["tools", "with a lock ÷ without", "lowest ÷ lowest", "aim"], rows);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
