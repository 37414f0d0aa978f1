// npm run bench -- [NAME…] [--rounds N] [--cpu] [--draw]
import { availableParallelism, loadavg } from "node:os";
import { benchCatalog } from "./catalog.ts";
import { benchDiscovery } from "./discovery.ts";
import { benchLazy } from "./lazy.ts";
import { benchLock } from "./lock.ts";
import { benchReplicas } from "./replicas.ts";
import { benchSearch } from "./search.ts";
import { benchServe } from "./serve.ts";
import { benchSession } from "./session.ts";
import { benchStartup } from "./startup.ts";
import { drawFigures, keepFigures } from "./support/figures.ts";
import { type BenchmarkOptions, readCommandLine } from "./support/options.ts";
import { takeTables } from "./support/print.ts";
import { benchValidation } from "./validation.ts";

const benchmarks: ReadonlyMap<string, (options: BenchmarkOptions) => Promise<void>> = new Map([
  ["catalog", benchCatalog],
  ["discovery", benchDiscovery],
  ["lazy", benchLazy],
  ["lock", benchLock],
  ["replicas", benchReplicas],
  ["search", benchSearch],
  ["serve", benchServe],
  ["session", benchSession],
  ["startup", benchStartup],
  ["validation", benchValidation],
]);

// Node 20 reads these certificates at every start, which can take longer than everything measured here.
delete process.env.NODE_EXTRA_CA_CERTS;

const readLoad = () => Number(loadavg()[0]?.toFixed(1));

const { names, options } = readCommandLine(process.argv.slice(2));
for (const name of names) {
  if (!benchmarks.has(name))
    throw new Error(`No benchmark "${name}"; there are ${[...benchmarks.keys()].join(", ")}`);
}
for (const [name, bench] of benchmarks) {
  if (names.length > 0 && !names.includes(name)) continue;
  if (!options.draw) {
    const time = options.cpu ? "user and system" : "wall";
    console.log(`\n## ${name}: ${options.rounds} rounds, ${time} time\n`);
    const before = readLoad();
    await bench(options);
    keepFigures(name, {
      date: new Date().toISOString().slice(0, 10),
      node: process.versions.node,
      rounds: options.rounds,
      time,
      load: { before, after: readLoad(), cores: availableParallelism() },
      tables: takeTables(),
    });
  }
  drawFigures(name);
}
