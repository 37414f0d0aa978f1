import { fileURLToPath } from "node:url";
import { type BenchmarkOptions, compareRounds, runRounds } from "./support/paired-rounds.ts";
import { formatAim, formatCount, formatRatio, printTable } from "./support/print.ts";
import { command, processes, runTimed } from "./support/run-process.ts";
import { type Tree, withTemporaryTrees } from "./support/trees.ts";

const aims = { discoverPacks: 1.5, all: 1.25, smallestWalk: 1000 };
/** How many packages are read, and how many packs are found, in every tree. */
const expected = { floor: 41, discoverPacks: 4 };
/** The size of the tree in which peers are measured, and how often: they take seconds. */
const peerTree = 1000;
const peerRounds = 5;

const worker = fileURLToPath(new URL("support/discovery-worker.mjs", import.meta.url));
const walk = fileURLToPath(new URL("support/read-every-manifest.cjs", import.meta.url));

/** Discoveries in a new process, which measures itself, without the start of Node, loading modules and the first calls. */
function search(way: keyof typeof expected, { path }: Tree, cpu: boolean) {
  const { stdout } = runTimed(process.execPath, [worker, way, path], { cwd: path });
  const sample = JSON.parse(stdout) as { count: number; wall: number; cpu: number };
  if (sample.count !== expected[way]) throw new Error(`${way} counts ${sample.count} in ${path}`);
  return { time: cpu ? sample.cpu : sample.wall };
}

async function measureTree(tree: Tree, { rounds, cpu }: BenchmarkOptions): Promise<string[]> {
  const contestants = {
    floor: () => search("floor", tree, cpu),
    discoverPacks: () => search("discoverPacks", tree, cpu),
  };
  const ratio = compareRounds(await runRounds(contestants, rounds), "discoverPacks", "floor", "time");
  const lines = { walk: [walk], all: [command, "list", "--all"] };
  const whole = await runRounds(processes(tree.path, cpu, lines), rounds);
  const all = compareRounds(whole, "all", "walk", "time");
  return [
    formatCount(tree.packages),
    formatRatio(ratio),
    formatAim(ratio, aims.discoverPacks),
    formatRatio(all),
    tree.packages < aims.smallestWalk ? "-" : formatAim(all, aims.all),
  ];
}

/** Commands that answer a similar question. */
async function measurePeers({ path }: Tree, { cpu }: BenchmarkOptions): Promise<string[][]> {
  const npm = process.env.npm_execpath;
  const lines: Readonly<Record<string, readonly string[]>> = {
    ...(npm === undefined ? {} : { "npm query '[trailblaze]'": [npm, "query", "[trailblaze]"] }),
    "pnpm list": [fileURLToPath(new URL("../node_modules/pnpm/bin/pnpm.cjs", import.meta.url)), "list"],
  };
  const contestants = processes(path, cpu, { list: [command, "list"], ...lines });
  const measured = await runRounds(contestants, peerRounds);
  return Object.keys(lines).map((peer) => [peer, formatRatio(compareRounds(measured, "list", peer, "time"))]);
}

/** Discovery in one process and in whole ones against its floors, and beside its peers. */
export async function benchDiscovery(options: BenchmarkOptions): Promise<void> {
  await withTemporaryTrees(async (trees) => {
    const headings = ["packages", "discoverPacks ÷ reading", "aim", "list --all ÷ walk", "aim"];
    const rows: string[][] = [];
    for (const tree of trees) rows.push(await measureTree(tree, options));
    printTable(headings, rows);
    const tree = trees.find(({ packages }) => packages === peerTree);
    if (tree === undefined) return;
    console.log();
    printTable(["peer, 1,000 packages", "list ÷ peer"], await measurePeers(tree, options));
  });
}
