import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createRandom } from "../../bench/support/random.ts";
import { TrailblazeError } from "../../src/problems/index.ts";
import { Broken, type Part, type Steps } from "./part.ts";
import { findLeaks, measureUsage, type Usage } from "./usage.ts";

export interface RunOptions {
  seed: number;
  /** How many steps to run. */
  steps: number;
  /** Called before each step with its seed, which repeats it. */
  onStep?: (seed: number) => void;
}

/** A step that broke a promise. */
export interface Break {
  /** The seed that repeats it as the first step. */
  seed: number;
  reason: string;
}

export interface PartResult {
  steps: number;
  counts: Map<string, number>;
  /** The longest step, in milliseconds. */
  longestMs: number;
  /** At the end of the warm-up and at the end. */
  usage: { before: Usage; after: Usage };
  breaks: Break[];
  /** What the process holds more at the end than after the warm-up. */
  leaks: string[];
}

const warmUp = 0.1;
/** Below this, what a program loads and compiles at first use outweighs what it leaks. */
const stepsForMemory = 1000;
const mostBreaks = 10;
/** How often a step that takes too long is repeated before it counts as one that hangs. */
const repetitions = 8;
/** After this multiple of its limit, a step is given up. */
const patience = 60;

class Hang extends Error {}

async function within<Result>(work: Promise<Result>, limitMs: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Hang(`it did not end within ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function describe(error: unknown): string {
  if (error instanceof Broken || error instanceof Hang) return error.message;
  if (error instanceof TrailblazeError) return `an unexpected TrailblazeError: ${error.message}`;
  const stack = error instanceof Error ? error.stack?.split("\n").slice(0, 6).join("\n  ") : String(error);
  return `an exception that is no TrailblazeError: ${stack}`;
}

/** Runs a part. Its steps have the seeds `seed`, `seed + 1`, and so on. */
export async function runPart(part: Part, { seed, steps, onStep }: RunOptions): Promise<PartResult> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "trailblaze-soak-")));
  const limitMs = part.limitMs ?? 1000;
  const counts = new Map<string, number>();
  const breaks: Break[] = [];
  let longestMs = 0;

  async function take(opened: Steps, stepSeed: number): Promise<number> {
    const begun = performance.now();
    const counted = await within(opened.step(createRandom(stepSeed)), limitMs * patience);
    const took = performance.now() - begun;
    for (const [name, count] of Object.entries(counted)) counts.set(name, (counts.get(name) ?? 0) + count);
    return took;
  }

  async function tryStep(opened: Steps, stepSeed: number): Promise<void> {
    onStep?.(stepSeed);
    try {
      let took = await take(opened, stepSeed);
      for (let repeated = 0; took > limitMs && repeated < repetitions; repeated++) {
        // Another program may be what is slow, and for a while.
        await sleep(250 * repeated);
        took = Math.min(took, await take(opened, stepSeed));
      }
      longestMs = Math.max(longestMs, took);
      if (took > limitMs) throw new Hang(`it took ${Math.round(took)} ms, ${repetitions} times more`);
    } catch (error) {
      breaks.push({ seed: stepSeed, reason: describe(error) });
    }
  }

  try {
    const opened = await part.open({ folder });
    const firsts = Math.ceil(steps * warmUp);
    let index = 0;
    try {
      for (; index < firsts && breaks.length < mostBreaks; index++) await tryStep(opened, seed + index);
      const before = await measureUsage();
      for (; index < steps && breaks.length < mostBreaks; index++) await tryStep(opened, seed + index);
      const after = await measureUsage();
      const leaks = findLeaks(before, after, steps >= stepsForMemory);
      return { steps: index, counts, longestMs, usage: { before, after }, breaks, leaks };
    } finally {
      await opened.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
