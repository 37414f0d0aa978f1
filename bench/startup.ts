import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runUsersNpm } from "../test/support/package-managers.ts";
import { writeTree } from "../test/support/tree.ts";
import { type BenchmarkOptions, compareRounds, runRounds, type Spread } from "./support/paired-rounds.ts";
import { formatAim, formatCount, formatRatio, printTable } from "./support/print.ts";
import { command, processes, runTimed } from "./support/run-process.ts";
import { type Tree, withTemporaryTrees } from "./support/trees.ts";

/** `cached`: where Node keeps compiled code. */
const aims = { list: 1.35, cached: 1.25, version: 1.1, growth: 1.05, lazy: 2 };
const servers = 20;

const server = fileURLToPath(new URL("support/sdk-server.mjs", import.meta.url));

/** Installs another Node for the run. `undefined` where npm has none for this platform. */
async function installNode(folder: string): Promise<string | undefined> {
  const name = `node-${process.platform}-${process.arch}`;
  const path = join(folder, "newer");
  writeTree(path, { "package.json": { name: "newer", private: true } });
  const { exitCode } = await runUsersNpm(["install", `${name}@24`, "--no-audit", "--no-fund"], path);
  return exitCode === 0 ? join(path, "node_modules", name, "bin/node") : undefined;
}

/** Compares with a process of the same Node that does nothing. */
async function compareWithNode(node: string, { path }: Tree, { rounds, cpu }: BenchmarkOptions) {
  const lines = { node: ["-e", "0"], version: [command, "--version"], list: [command, "list"] };
  const measured = await runRounds(processes(path, cpu, lines, node), rounds);
  return (name: string): Spread => compareRounds(measured, name, "node", "time");
}

async function measureTree(
  node: string,
  newer: string | undefined,
  tree: Tree,
  options: BenchmarkOptions,
): Promise<string[]> {
  const ratioOf = await compareWithNode(node, tree, options);
  const cached = newer === undefined ? undefined : (await compareWithNode(newer, tree, options))("list");
  return [
    formatCount(tree.packages),
    ...[formatRatio(ratioOf("list")), formatAim(ratioOf("list"), aims.list)],
    ...(cached === undefined ? ["-", "-"] : [formatRatio(cached), formatAim(cached, aims.cached)]),
    ...[formatRatio(ratioOf("version")), formatAim(ratioOf("version"), aims.version)],
  ];
}

async function compareSizes(trees: readonly Tree[], { rounds, cpu }: BenchmarkOptions): Promise<Spread> {
  const [smallest, largest] = [trees[0], trees.at(-1)];
  if (smallest === undefined || largest === undefined) throw new Error("There are no trees");
  const contestants = {
    ...processes(smallest.path, cpu, { small: [command, "list"] }),
    ...processes(largest.path, cpu, { large: [command, "list"] }),
  };
  return compareRounds(await runRounds(contestants, rounds), "large", "small", "time");
}

/** `tools --lazy` over servers that are in the lock, against `list` there. */
async function compareLazyTools(folder: string, { rounds, cpu }: BenchmarkOptions): Promise<Spread> {
  const cwd = join(folder, "locked");
  const entries = Array.from({ length: servers }, (_, index) => [
    `server${index}`,
    { command: process.execPath, args: [server, `echo${index}`] },
  ]);
  const config = { logDir: "logs", mcpServers: Object.fromEntries(entries) };
  writeTree(cwd, { "package.json": { name: "locked", private: true }, "trailblaze.config.json": config });
  runTimed(process.execPath, [command, "approve", "--all", "--yes"], { cwd });
  const lines = { list: [command, "list"], tools: [command, "tools", "--lazy"] };
  return compareRounds(await runRounds(processes(cwd, cpu, lines), rounds), "tools", "list", "time");
}

/** The whole command against a Node process that does nothing. */
export async function benchStartup(options: BenchmarkOptions): Promise<void> {
  await withTemporaryTrees(async (trees, folder) => {
    const newer = await installNode(folder);
    const running = `Node ${process.versions.node}`;
    const sizes: string[][] = [];
    for (const tree of trees) sizes.push(await measureTree(process.execPath, newer, tree, options));
    printTable(
      ["packages", `list ÷ node -e 0, ${running}`, "aim", "the same, Node 24", "aim", "--version", "aim"],
      sizes,
    );
    const rows: [what: string, ratio: Spread, aim: number][] = [
      ["list with 20,000 packages ÷ with 40", await compareSizes(trees, options), aims.growth],
      [
        `tools --lazy over ${servers} locked servers ÷ list`,
        await compareLazyTools(folder, options),
        aims.lazy,
      ],
    ];
    console.log();
    printTable(
      ["commands", "ratio", "aim"],
      rows.map(([what, ratio, aim]) => [what, formatRatio(ratio), formatAim(ratio, aim)]),
    );
  });
}
