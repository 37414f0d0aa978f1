// A process that evaluates a pack, for tests of what may happen to such a process. Prints the results.
import { writeSync } from "node:fs";
import { createConfinedEvaluator } from "../../src/confinement/confined-evaluator.ts";

const { packageRoot, files, ...options } = JSON.parse(process.argv[2] ?? "{}");
const { confinement, results } = await createConfinedEvaluator(options).evaluate({ packageRoot, files });
writeSync(1, JSON.stringify({ confinement, results: Object.fromEntries(results) }));
