import { fileURLToPath } from "node:url";
import type { BenchmarkOptions } from "./support/options.ts";
import { compareRounds, runPairedRounds } from "./support/paired-rounds.ts";
import { formatAim, formatCount, formatRatio, printTable } from "./support/print.ts";
import { runTimed } from "./support/run-process.ts";
import { withTemporaryTrees } from "./support/temporary-trees.ts";

const versionAim = 1.3;
/** By the number of installed packages. */
const listAims: ReadonlyMap<number, number> = new Map([
  [20, 1.5],
  [300, 1.8],
  [1000, 2.3],
  [2745, 3.4],
]);
const npmAim = 1 / 12;
const npmRounds = 5;

const repository = fileURLToPath(new URL("..", import.meta.url));
const command = fileURLToPath(new URL("../dist/cli/cli.cjs", import.meta.url));
const floor = fileURLToPath(new URL("support/read-every-manifest.cjs", import.meta.url));

/** Measures whole processes in a folder, Node's own start and end included. */
function processes(cwd: string, cpu: boolean, commandLines: Readonly<Record<string, readonly string[]>>) {
  return Object.fromEntries(
    Object.entries(commandLines).map(([name, args]) => {
      const run = () => {
        const { wall, cpu: used } = runTimed(process.execPath, args, { cwd, cpu });
        return { time: cpu ? used : wall };
      };
      return [name, run];
    }),
  );
}

function compareWithNode(tree: string, { rounds, cpu }: BenchmarkOptions) {
  const contestants = processes(tree, cpu, {
    node: ["-e", "0"],
    floor: [floor],
    version: [command, "--version"],
    list: [command, "list"],
    json: [command, "list", "--json"],
  });
  const measured = runPairedRounds(contestants, rounds);
  return (name: string) => compareRounds(measured, name, "node", "time");
}

function compareWithNpm(tree: string, cpu: boolean) {
  const npm = process.env.npm_execpath;
  if (npm === undefined) return undefined;
  const contestants = processes(tree, cpu, {
    npm: [npm, "query", "[trailblaze]", "--no-update-notifier"],
    list: [command, "list"],
  });
  return compareRounds(runPairedRounds(contestants, npmRounds), "list", "npm", "time");
}

/** The command's whole run against that of a Node that does nothing, and of npm asked for the same. */
export async function benchStartup(options: BenchmarkOptions): Promise<void> {
  await withTemporaryTrees((makeTree) => {
    const rows: string[][] = [];
    for (const [packages, aim] of listAims) {
      const ratioOf = compareWithNode(makeTree("npm", packages).path, options);
      const [list, version] = [ratioOf("list"), ratioOf("version")];
      rows.push([
        formatCount(packages),
        formatRatio(ratioOf("floor")),
        ...[formatRatio(list), formatAim(list, aim)],
        ...[formatRatio(ratioOf("json")), formatRatio(version), formatAim(version, versionAim)],
      ]);
    }
    const heads = ["packages", "floor ÷ node -e 0", "list", "aim", "list --json", "--version", "aim"];
    printTable(heads, rows);
  });
  const ratio = compareWithNpm(repository, options.cpu);
  console.log();
  if (ratio === undefined) return console.log("npm is compared with only when npm runs the benchmark.");
  printTable(
    ["tree", "list ÷ npm query '[trailblaze]'", "aim"],
    [["the repo's own node_modules", formatRatio(ratio), formatAim(ratio, npmAim)]],
  );
}
