import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BenchmarkOptions } from "./support/options.ts";
import { formatCount, printTable } from "./support/print.ts";
import { runTimed } from "./support/run-process.ts";

const packCount = 100;
const toolsPerPack = 50;
const aims = { seconds: 3, siteMb: 25, indexMb: 1 };

const command = fileURLToPath(new URL("../dist/cli/cli.cjs", import.meta.url));

function write(folder: string, path: string, value: unknown): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(value, null, 2));
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

/** A project whose packs have one file for each tool, and one server for every two packs. */
function writePacks(folder: string): void {
  const names = Array.from({ length: packCount }, (_, index) => `@scope${index % 10}/pack-${index}`);
  const tools = Array.from({ length: toolsPerPack }, (_, index) => `tool${index}`);
  write(folder, "package.json", {
    name: "measured",
    dependencies: Object.fromEntries(names.map((name) => [name, "1.0.0"])),
  });
  for (const [index, name] of names.entries()) {
    const path = `node_modules/${name}`;
    const servers = index % 2 === 0 ? ["main"] : [];
    const manifest = {
      name,
      version: "1.0.0",
      description: "A pack of the catalog.",
      trailblaze: { tools, servers },
    };
    write(folder, `${path}/package.json`, manifest);
    writeFileSync(join(folder, path, "handlers.js"), "export const handle = () => 'found';\n");
    for (const tool of tools)
      write(folder, `${path}/trailblaze/tools/${tool}.json`, defineTool(`p${index}_${tool}`));
    if (servers.length > 0) write(folder, `${path}/trailblaze/servers/main.json`, { tools });
  }
}

const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);

/** The catalog of 5,000 tools: how long the command takes in a new process, and how large the site is. */
export async function benchCatalog({ rounds, cpu }: BenchmarkOptions): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "trailblaze-bench-")));
  try {
    const project = join(folder, "project");
    writePacks(project);
    const site = join(folder, "site");
    const times = Array.from({ length: rounds }, () => {
      rmSync(site, { recursive: true, force: true });
      return runTimed(process.execPath, [command, "catalog", "--out", site], { cwd: project, cpu }).cpu;
    });
    const [seconds, siteMb, indexMb] = [
      (times.sort((a, b) => a - b)[times.length >> 1] ?? 0) / 1000,
      sizeOf(site) / 1e6,
      statSync(join(site, "index.html")).size / 1e6,
    ];
    const row = (what: string, value: number, aim: number, unit: string) => [
      what,
      `${value.toFixed(2)} ${unit}`,
      `${aim} ${unit} ${value <= aim ? "met" : "MISSED"}`,
    ];
    printTable(
      [`catalog of ${formatCount(packCount * toolsPerPack)} tools`, "measured", "aim"],
      [
        row("time of the command", seconds, aims.seconds, "s"),
        row("all files", siteMb, aims.siteMb, "MB"),
        row("index.html", indexMb, aims.indexMb, "MB"),
      ],
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
