import { Worker } from "node:worker_threads";

/** A step that blocks the process cannot be given up: after this, it is named, and the process ends. */
const limitMs = 60_000;

/** Plain JavaScript, because workers do not load TypeScript everywhere. */
const program = `
const { workerData: { name, state, limitMs, parent } } = require("node:worker_threads");
const { writeSync } = require("node:fs");
let [last, since] = [-1, Date.now()];
setInterval(() => {
  const seen = Atomics.load(state, 0);
  if (seen !== last) [last, since] = [seen, Date.now()];
  if (Date.now() - since < limitMs) return;
  const seed = Atomics.load(state, 1);
  writeSync(2, name + ": a step blocks: npm run soak -- " + name + " --seed " + seed + " --steps 1\\n");
  process.kill(parent, "SIGKILL");
}, 1000);
`;

export interface Watchdog {
  /** Has to be called at each step. */
  see(seed: number): void;
  stop(): void;
}

/** Ends this process when its event loop is blocked, and says by which step. */
export function startWatchdog(name: string): Watchdog {
  const state = new Int32Array(new SharedArrayBuffer(8));
  const workerData = { name, state, limitMs, parent: process.pid };
  const worker = new Worker(program, { eval: true, workerData, execArgv: [] });
  worker.unref();
  // The loop beats as long as it is not blocked, whatever the step waits for.
  const beat = setInterval(() => Atomics.add(state, 0, 1), 500).unref();
  return {
    see(seed) {
      Atomics.store(state, 1, seed);
      Atomics.add(state, 0, 1);
    },
    stop() {
      clearInterval(beat);
      void worker.terminate();
    },
  };
}
