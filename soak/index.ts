// npm run soak -- [PART…] [--seed N] [--scale 0.01] [--steps N]
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { parts } from "./parts.ts";
import { formatResult } from "./support/format-result.ts";
import { runPart } from "./support/run-part.ts";
import { startWatchdog } from "./support/watchdog.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string" },
    scale: { type: "string", default: "1" },
    /** Overrides the scale. */
    steps: { type: "string" },
  },
});

function readNumber(name: string, text: string, least: number): number {
  const number = Number(text);
  if (!Number.isFinite(number) || number < least)
    throw new Error(`--${name} "${text}" is too small or no number`);
  return number;
}

const seed = Math.floor(
  values.seed === undefined ? Math.random() * 2 ** 31 : readNumber("seed", values.seed, 0),
);
const scale = readNumber("scale", values.scale, Number.MIN_VALUE);
for (const name of positionals)
  if (!parts.has(name)) throw new Error(`No part "${name}"; there are ${[...parts.keys()].join(", ")}`);

/** Makes tsx start its compiler, which runs on, before anything is measured: at the first module that it has not cached. */
async function startCompiler(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "trailblaze-soak-"));
  const file = join(folder, "module.ts");
  writeFileSync(file, `export const now: number = ${Date.now()};\n`);
  await import(pathToFileURL(file).href);
  rmSync(folder, { recursive: true });
}

await startCompiler();
console.log(`Node ${process.versions.node}, seed ${seed}, load ${loadavg()[0]?.toFixed(1)}`);
let isBroken = false;
for (const [name, part] of parts) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const steps =
    values.steps === undefined ? Math.ceil(part.steps * scale) : readNumber("steps", values.steps, 1);
  const watchdog = startWatchdog(name);
  const begun = performance.now();
  const result = await runPart(part, { seed, steps, onStep: watchdog.see });
  watchdog.stop();
  console.log(formatResult(name, result, performance.now() - begun));
  isBroken ||= result.breaks.length > 0 || result.leaks.length > 0;
}
process.exitCode = isBroken ? 1 : 0;
