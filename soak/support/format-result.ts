import { formatCount } from "../../bench/support/print.ts";
import type { PartResult } from "./run-part.ts";
import { formatBytes } from "./usage.ts";

const arrow = (from: string, to: string) => (from === to ? to : `${from} → ${to}`);

/** The figures of a part on one line, which ends with "held"; or what broke, with the command that repeats it. */
export function formatResult(name: string, result: PartResult, tookMs: number): string {
  const { steps, counts, longestMs, usage, breaks, leaks } = result;
  const { before, after } = usage;
  const figures = [
    `${formatCount(steps)} steps`,
    ...[...counts].map(([what, count]) => `${formatCount(count)} ${what}`),
    `live ${arrow(formatBytes(before.live), formatBytes(after.live))}`,
    `resident ${arrow(formatBytes(before.resident), formatBytes(after.resident))}`,
    ...(after.descriptors === null
      ? []
      : [`descriptors ${arrow(`${before.descriptors}`, `${after.descriptors}`)}`]),
    ...(after.processes === null ? [] : [`processes ${arrow(`${before.processes}`, `${after.processes}`)}`]),
    `longest step ${Math.round(longestMs)} ms`,
    `${Math.round(tookMs / 1000)} s`,
  ];
  const broken = [
    ...leaks.map((leak) => `  leak: ${leak}`),
    ...breaks.map(({ seed, reason }) => `  ${reason}\n    npm run soak -- ${name} --seed ${seed} --steps 1`),
  ];
  return [`${name}: ${figures.join(", ")}: ${broken.length === 0 ? "held" : "BROKEN"}`, ...broken].join("\n");
}
