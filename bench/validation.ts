import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "tsdown";
import { makeTemporaryFolder } from "../test/support/temporary-folder.ts";
import { writeTree } from "../test/support/tree.ts";
import { type BenchmarkOptions, compareRounds, runRounds, type Spread } from "./support/paired-rounds.ts";
import { formatAim, formatCount, formatRatio, printTable } from "./support/print.ts";
import { command, processes, runTimed } from "./support/run-process.ts";

const publintAim = 0.9;
const checkAim = 6;

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
  writeTree(folder, { "package.json": manifest, "handlers.js": "export const handle = () => {};\n" });
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
    writeTree(folder, { [`trailblaze/tools/${name}.json`]: definition });
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
async function compareChecking(folder: string, bundle: string, { rounds, cpu }: BenchmarkOptions) {
  const run = (way: string) => () => {
    const { stdout } = runTimed(process.execPath, [checker, way, "trailblaze/tools"], { cwd: folder, cpu });
    return { time: Number(stdout) };
  };
  const measured = await runRounds({ check: run(bundle), parse: run("parse") }, rounds);
  return compareRounds(measured, "check", "parse", "time");
}

/** Whole processes against one that only reads and parses, against an empty Node, and against publint. */
export async function benchValidation({ rounds, cpu }: BenchmarkOptions): Promise<void> {
  const { path: folder, remove } = makeTemporaryFolder();
  const rows: string[][] = [];
  let checking: Spread | undefined;
  try {
    for (const tools of [10, 1000]) {
      const cwd = join(folder, String(tools));
      writePack(cwd, tools);
      const contestants = processes(cwd, cpu, {
        node: ["-e", "0"],
        floor: [floor],
        validate: [command, "validate"],
        publint: [publint, "--pack", "false"],
      });
      const measured = await runRounds(contestants, rounds);
      if (tools === 1000)
        checking = await compareChecking(cwd, await bundleShapes(join(folder, "shapes")), { rounds, cpu });
      const ratioTo = (base: string) => compareRounds(measured, "validate", base, "time");
      const aim = tools === 10 ? formatAim(ratioTo("publint"), publintAim) : "-";
      rows.push([
        formatCount(tools),
        ...["floor", "node", "publint"].map((base) => formatRatio(ratioTo(base))),
        aim,
      ]);
    }
  } finally {
    remove();
  }
  const headings = ["tools", "validate ÷ read and parse", "÷ node", "÷ publint", "aim"];
  printTable(headings, rows);
  if (checking === undefined) return;
  console.log();
  const aims = [["1,000", formatRatio(checking), formatAim(checking, checkAim)]];
  printTable(["definitions", "load, parse and check ÷ JSON.parse", "aim"], aims);
}
