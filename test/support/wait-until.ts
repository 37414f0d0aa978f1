import { setTimeout as delay } from "node:timers/promises";

/** Waits until a condition holds, for what happens in other processes. The limit is for hangs. */
export async function waitUntil(condition: () => boolean, limitMs = 20_000): Promise<void> {
  const end = performance.now() + limitMs;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`After ${limitMs} ms this is still false: ${condition}`);
    await delay(10);
  }
}
