// npm run bench -- [NAME…] [--rounds N] [--cpu]
import { availableParallelism, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { benchDiscovery } from "./discovery.ts";
import { benchServe, benchSession } from "./session.ts";
import { benchStartup } from "./startup.ts";
import type { BenchmarkOptions } from "./support/paired-rounds.ts";
import { benchValidation } from "./validation.ts";

const benchmarks: ReadonlyMap<string, (options: BenchmarkOptions) => Promise<void>> = new Map([
  ["discovery", benchDiscovery],
  ["serve", benchServe],
  ["session", benchSession],
  ["startup", benchStartup],
  ["validation", benchValidation],
]);

// Node 20 reads these certificates at every start, which can take longer than everything measured here.
delete process.env.NODE_EXTRA_CA_CERTS;

const readLoad = () => Number(loadavg()[0]?.toFixed(1));

const { positionals: names, values } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: "string", default: "11" }, cpu: { type: "boolean", default: false } },
});
const options = { rounds: Number(values.rounds), cpu: values.cpu };
for (const name of names) {
  if (!benchmarks.has(name))
    throw new Error(`No benchmark "${name}"; there are ${[...benchmarks.keys()].join(", ")}`);
}
for (const [name, bench] of benchmarks) {
  if (names.length > 0 && !names.includes(name)) continue;
  const time = options.cpu ? "user and system" : "wall";
  const before = readLoad();
  console.log(`\n## ${name}: ${options.rounds} rounds, ${time} time\n`);
  await bench(options);
  console.log(`\nload ${before} to ${readLoad()} on ${availableParallelism()} cores`);
}
