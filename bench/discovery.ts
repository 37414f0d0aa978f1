import { fileURLToPath } from "node:url";
import type { BenchmarkOptions } from "./support/options.ts";
import {
  type Contestants,
  compareRounds,
  runPairedRounds,
  type Sample,
  spreadOf,
} from "./support/paired-rounds.ts";
import { formatAim, formatCount, formatRatio, printTable } from "./support/print.ts";
import { runTimed } from "./support/run-process.ts";
import { type Layout, type Tree, withTemporaryTrees } from "./support/temporary-trees.ts";

const sizes = [300, 1000, 5000, 20_000];
const aims: Readonly<Record<Layout, number>> = { npm: 1.25, pnpm: 1.3 };
const growthAim = 5;
/** Peers take many seconds in larger trees. */
const largestPeerTrees: Readonly<Record<Layout, number>> = { npm: 5000, pnpm: 1000 };
const peerRounds = 3;

type Way = "floor" | "discoverPacks" | "fastGlob" | "arborist";
/** The search alone, and including the loading of its modules; each as wall time and as user and system time. */
type Metric = "call" | "whole" | "callCpu" | "wholeCpu";

const worker = fileURLToPath(new URL("support/discovery-worker.mjs", import.meta.url));

/** One search in a new process, which measures itself, without the start of Node. */
function search(way: Way, { path, packages, packs }: Tree): Sample<Metric> {
  const { stdout } = runTimed(process.execPath, [worker, way, path], { cwd: path });
  const { count, ...sample } = JSON.parse(stdout) as { count: number } & Sample<Metric>;
  const expected = way === "floor" ? packages : packs;
  if (count !== expected) throw new Error(`${way} found ${count} instead of ${expected} in ${path}`);
  return sample;
}

function contest(tree: Tree, ways: readonly Way[]): Contestants<Metric> {
  return Object.fromEntries(ways.map((way) => [way, () => search(way, tree)]));
}

function measureTree(layout: Layout, tree: Tree, { rounds, cpu }: BenchmarkOptions): string[] {
  const [call, whole] = cpu ? (["callCpu", "wholeCpu"] as const) : (["call", "whole"] as const);
  const measured = runPairedRounds(contest(tree, ["floor", "discoverPacks"]), rounds);
  const ratio = compareRounds(measured, "discoverPacks", "floor", call);
  const floor = spreadOf(measured.get("floor")?.map((sample) => sample[call]) ?? []);
  const row = [
    `${layout} ${formatCount(tree.packages)}`,
    `${floor.median.toFixed(1)} ms`,
    formatRatio(ratio),
    formatAim(ratio, aims[layout]),
    formatRatio(compareRounds(measured, "discoverPacks", "floor", whole)),
  ];
  if (tree.packages > largestPeerTrees[layout]) return [...row, "-", "-"];
  const peers = runPairedRounds(contest(tree, ["floor", "fastGlob", "arborist"]), peerRounds);
  return [
    ...row,
    formatRatio(compareRounds(peers, "fastGlob", "floor", call)),
    formatRatio(compareRounds(peers, "arborist", "floor", call)),
  ];
}

function measureGrowth(layout: Layout, smaller: Tree, larger: Tree, options: BenchmarkOptions): string[] {
  const contestants = {
    smaller: () => search("discoverPacks", smaller),
    larger: () => search("discoverPacks", larger),
  };
  const metric = options.cpu ? "callCpu" : "call";
  const ratio = compareRounds(runPairedRounds(contestants, options.rounds), "larger", "smaller", metric);
  return [layout, formatRatio(ratio), formatAim(ratio, growthAim)];
}

/** Discovery against the floor and its peers, in trees with the layouts of npm and pnpm. */
export async function benchDiscovery(options: BenchmarkOptions): Promise<void> {
  await withTemporaryTrees((makeTree) => {
    const rows: string[][] = [];
    const growth: string[][] = [];
    for (const layout of ["npm", "pnpm"] as const) {
      console.error(`Writing trees of ${layout}'s layout`);
      const trees = sizes.map((packages) => makeTree(layout, packages));
      for (const tree of trees) rows.push(measureTree(layout, tree, options));
      const [smaller, larger] = trees.slice(-2);
      if (smaller && larger) growth.push(measureGrowth(layout, smaller, larger, options));
    }
    const peers = ["fast-glob ÷ floor", "arborist ÷ floor"];
    printTable(["tree", "floor", "discoverPacks ÷ floor", "aim", "import included", ...peers], rows);
    console.log();
    printTable(["layout", "t(20,000) ÷ t(5,000)", "aim"], growth);
  });
}
