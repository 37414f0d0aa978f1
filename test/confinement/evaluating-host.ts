// A process that evaluates a pack, for tests of what may happen to such a process. Prints the results.
import { writeSync } from "node:fs";
import { evaluateConfined } from "../../src/confinement/evaluate.ts";

const { packageRoot, files, ...options } = JSON.parse(process.argv[2] ?? "{}");
const { confinement, results } = await evaluateConfined({ packageRoot, files }, options);
writeSync(1, JSON.stringify({ confinement, results: Object.fromEntries(results) }));
