// npm run bench -- [NAME…] [--rounds N] [--cpu]
import { benchCatalog } from "./catalog.ts";
import { benchDiscovery } from "./discovery.ts";
import { benchLock } from "./lock.ts";
import { benchReplicas } from "./replicas.ts";
import { benchServe } from "./serve.ts";
import { benchSession } from "./session.ts";
import { benchStartup } from "./startup.ts";
import { type BenchmarkOptions, readCommandLine } from "./support/options.ts";
import { benchValidation } from "./validation.ts";

const benchmarks: ReadonlyMap<string, (options: BenchmarkOptions) => Promise<void>> = new Map([
  ["catalog", benchCatalog],
  ["discovery", benchDiscovery],
  ["lock", benchLock],
  ["replicas", benchReplicas],
  ["serve", benchServe],
  ["session", benchSession],
  ["startup", benchStartup],
  ["validation", benchValidation],
]);

// Node 20 reads these certificates at every start, which can take longer than everything measured here.
delete process.env.NODE_EXTRA_CA_CERTS;

const { names, options } = readCommandLine(process.argv.slice(2));
for (const name of names) {
  if (!benchmarks.has(name))
    throw new Error(`No benchmark "${name}"; there are ${[...benchmarks.keys()].join(", ")}`);
}
for (const [name, bench] of benchmarks) {
  if (names.length > 0 && !names.includes(name)) continue;
  console.log(`\n## ${name}: ${options.rounds} rounds, ${options.cpu ? "user and system" : "wall"} time\n`);
  await bench(options);
}
