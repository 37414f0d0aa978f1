import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "tsdown";
import type { BenchmarkOptions } from "./support/options.ts";
import { compareRounds, runPairedRounds } from "./support/paired-rounds.ts";
import { formatAim, formatCount, formatRatio, printTable } from "./support/print.ts";
import { runTimed } from "./support/run-process.ts";

const publintAim = 0.9;
const checkAim = 6;

const command = fileURLToPath(new URL("../dist/cli/cli.cjs", import.meta.url));
const floor = fileURLToPath(new URL("support/read-definitions.cjs", import.meta.url));
const checker = fileURLToPath(new URL("support/check-definitions.mjs", import.meta.url));
const publint = fileURLToPath(new URL("../node_modules/publint/src/cli.js", import.meta.url));

/** Writes a pack whose tools are data, with one module for their handlers. */
function writePack(folder: string, tools: number): void {
  const names = Array.from({ length: tools }, (_, index) => `tool${index}`);
  const manifest = {
    name: "measured",
    version: "1.0.0",
    description: "A pack to measure.",
    license: "MIT",
    type: "module",
    keywords: ["trailblaze-extension"],
    exports: "./handlers.js",
    files: ["handlers.js", "trailblaze"],
    trailblaze: { tools: names },
  };
  mkdirSync(join(folder, "trailblaze/tools"), { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest, null, 2));
  writeFileSync(join(folder, "handlers.js"), "export const handle = () => {};\n");
  for (const name of names) {
    const definition = {
      name: `measured_${name}`,
      description: "Look a thing up by its key and answer with what is known of it.",
      inputSchema: {
        type: "object",
        properties: {
          key: { type: "string", description: "Key of the thing.", minLength: 1 },
          depth: { type: "integer", description: "How far to follow.", default: 1 },
          tags: { type: "array", items: { type: "string" }, description: "Only with these tags." },
        },
        required: ["key"],
      },
      handler: "./handlers.js#handle",
    };
    writeFileSync(join(folder, `trailblaze/tools/${name}.json`), JSON.stringify(definition, null, 2));
  }
}

const shapes = fileURLToPath(new URL("../src/extension-schema/definition-schema.ts", import.meta.url));

/** The shapes of definitions in one file, as the command has them; returns its address. */
async function bundleShapes(folder: string): Promise<string> {
  await build({
    config: false,
    logLevel: "silent",
    entry: { shapes },
    outDir: folder,
    dts: false,
    minify: true,
    deps: { alwaysBundle: [/^[^.]/] },
  });
  return pathToFileURL(join(folder, "shapes.mjs")).href;
}

/** Loading the shapes, parsing and checking against parsing alone, both in a new process. */
function compareChecking(folder: string, bundle: string, { rounds, cpu }: Omit<BenchmarkOptions, "draw">) {
  const run = (way: string) => () => {
    const { stdout } = runTimed(process.execPath, [checker, way, "trailblaze/tools"], { cwd: folder, cpu });
    return { time: Number(stdout) };
  };
  const measured = runPairedRounds({ check: run(bundle), parse: run("parse") }, rounds);
  return compareRounds(measured, "check", "parse", "time");
}

/** Whole processes against one that only reads and parses, against an empty Node, and against publint. */
export async function benchValidation({ rounds, cpu }: BenchmarkOptions): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "trailblaze-bench-")));
  const rows: string[][] = [];
  let checking: ReturnType<typeof compareChecking> | undefined;
  try {
    for (const tools of [10, 1000]) {
      const cwd = join(folder, String(tools));
      writePack(cwd, tools);
      const run = (args: readonly string[]) => () => {
        const { wall, cpu: used } = runTimed(process.execPath, args, { cwd, cpu });
        return { time: cpu ? used : wall };
      };
      const contestants = {
        node: run(["-e", "0"]),
        floor: run([floor]),
        validate: run([command, "validate"]),
        publint: run([publint, "--pack", "false"]),
      };
      const measured = runPairedRounds(contestants, rounds);
      if (tools === 1000)
        checking = compareChecking(cwd, await bundleShapes(join(folder, "shapes")), { rounds, cpu });
      const ratioTo = (base: string) => compareRounds(measured, "validate", base, "time");
      const aim = tools === 10 ? formatAim(ratioTo("publint"), publintAim) : "-";
      rows.push([
        formatCount(tools),
        ...["floor", "node", "publint"].map((base) => formatRatio(ratioTo(base))),
        aim,
      ]);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const headings = ["tools", "validate ÷ read and parse", "÷ node", "÷ publint", "aim"];
  printTable(headings, rows);
  if (checking === undefined) return;
  console.log();
  const aims = [["1,000", formatRatio(checking), formatAim(checking, checkAim)]];
  printTable(["definitions", "load, parse and check ÷ JSON.parse", "aim"], aims);
}
