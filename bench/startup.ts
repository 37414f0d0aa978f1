import { fileURLToPath } from "node:url";
import type { BenchmarkOptions } from "./support/options.ts";
import { compareRounds, runPairedRounds } from "./support/paired-rounds.ts";
import { formatAim, formatCount, formatRatio, printTable } from "./support/print.ts";
import { runTimed } from "./support/run-process.ts";
import { withTemporaryTrees } from "./support/temporary-trees.ts";

const versionAim = 1.3;
/** By the number of installed packages. */
const listAims: ReadonlyMap<number, number> = new Map([
  [20, 1.35],
  [300, 1.35],
  [1000, 1.35],
  [2745, 1.35],
]);
const npmAim = 0.083;
const npmRounds = 5;

const repository = fileURLToPath(new URL("..", import.meta.url));
const command = fileURLToPath(new URL("../dist/cli/cli.cjs", import.meta.url));
const floor = fileURLToPath(new URL("support/read-every-manifest.cjs", import.meta.url));

/** Measures whole processes in a folder, including Node's own start and exit. */
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

/** Compares with the equivalent npm query. */
function compareWithNpm(npm: string, tree: string, { cpu }: BenchmarkOptions) {
  const contestants = processes(tree, cpu, {
    npm: [npm, "query", "[trailblaze]", "--no-update-notifier"],
    list: [command, "list"],
  });
  return compareRounds(runPairedRounds(contestants, npmRounds), "list", "npm", "time");
}

function formatNodeRow(packages: number, aim: number, tree: string, options: BenchmarkOptions): string[] {
  const ratioOf = compareWithNode(tree, options);
  const [list, version] = [ratioOf("list"), ratioOf("version")];
  return [
    formatCount(packages),
    formatRatio(ratioOf("floor")),
    ...[formatRatio(list), formatAim(list, aim)],
    ...[formatRatio(ratioOf("json")), formatRatio(version), formatAim(version, versionAim)],
  ];
}

/** The whole command against a Node process that does nothing, and against the equivalent npm query. */
export async function benchStartup(options: BenchmarkOptions): Promise<void> {
  const npm = process.env.npm_execpath;
  const npmRows: string[][] = [];
  const addNpmRow = (name: string, tree: string, aim?: number) => {
    if (npm === undefined) return;
    const ratio = compareWithNpm(npm, tree, options);
    npmRows.push([name, formatRatio(ratio), aim === undefined ? "-" : formatAim(ratio, aim)]);
  };
  await withTemporaryTrees((makeTree) => {
    const rows: string[][] = [];
    for (const [packages, aim] of listAims) {
      const { path } = makeTree("npm", packages);
      rows.push(formatNodeRow(packages, aim, path, options));
      addNpmRow(`npm ${formatCount(packages)}`, path);
    }
    printTable(["packages", "floor ÷ node", "list ÷ node", "aim", "list --json", "--version", "aim"], rows);
  });
  addNpmRow("this repository's own", repository, npmAim);
  console.log();
  if (npm === undefined) console.log("npm is compared with only where npm runs the benchmark.");
  printTable(["tree", "list ÷ npm query '[trailblaze]'", "aim"], npmRows);
}
