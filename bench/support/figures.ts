import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { drawCharts, type Theme } from "./charts.ts";
import type { Table } from "./print.ts";

/** The tables that a benchmark printed last, and what they were measured under. */
export interface Figures {
  /** `YYYY-MM-DD` */
  date: string;
  node: string;
  rounds: number;
  time: string;
  /** Average number of running processes of the machine before and after, and its cores. */
  load: { before: number; after: number; cores: number };
  tables: readonly Table[];
}

const folder = fileURLToPath(new URL("../../docs/pictures/benchmarks/", import.meta.url));
const themes: readonly Theme[] = ["light", "dark"];

/** Keeps the figures of a benchmark in docs/pictures/benchmarks, in place of those of its last run. */
export function keepFigures(name: string, figures: Figures): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}${name}.json`, `${JSON.stringify(figures, null, 2)}\n`);
}

/** Draws a benchmark's figures as `NAME-light.svg` and `NAME-dark.svg` beside them, if there are any with ratios. */
export function drawFigures(name: string): void {
  const file = `${folder}${name}.json`;
  if (!existsSync(file)) return;
  const figures = JSON.parse(readFileSync(file, "utf8")) as Figures;
  for (const theme of themes) {
    const chart = drawCharts(name, figures, theme);
    if (chart !== undefined) writeFileSync(`${folder}${name}-${theme}.svg`, chart);
  }
}
