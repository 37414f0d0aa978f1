import type { Figures } from "./figures.ts";
import type { Table } from "./print.ts";

export type Theme = "light" | "dark";

interface Bar {
  label: string;
  median: number;
  lower: number;
  upper: number;
  /** The most that the ratio should be. */
  aim: number | undefined;
}

/** The bars of one column of ratios. */
interface Chart {
  title: string;
  bars: readonly Bar[];
}

const palettes = {
  light: { text: "#1f2328", muted: "#59636e", rule: "#d1d9e0", met: "#2a6fbb", missed: "#bc4c00" },
  dark: { text: "#f0f6fc", muted: "#9198a1", rule: "#3d444d", met: "#4a90e2", missed: "#e8823a" },
} as const;

const width = 760;
const barStart = 270;
const barEnd = 590;
const rowHeight = 24;
const titleHeight = 40;
const margin = 16;

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escapeXml = (text: string) => text.replace(/[&<>"]/g, (one) => escapes[one] ?? one);

/** Reads a cell as `formatRatio` writes it. */
function readRatio(cell: string): Omit<Bar, "label" | "aim"> | undefined {
  const [, median, lower, upper] = /^([\d.]+) \(([\d.]+)-([\d.]+)\)$/.exec(cell) ?? [];
  return median === undefined
    ? undefined
    : { median: Number(median), lower: Number(lower), upper: Number(upper) };
}

/** The charts of a table: of each column of ratios with an aim beside it; without any, of the first column of ratios. */
function chartsOf({ headings, rows }: Table): Chart[] {
  const isRatio = (column: number) => rows.some((row) => readRatio(row[column] ?? "") !== undefined);
  const columns = headings.map((_, column) => column).filter((column) => column > 0 && isRatio(column));
  const withAim = columns.filter((column) => headings[column + 1] === "aim");
  return (withAim.length > 0 ? withAim : columns.slice(0, 1)).map((column) => ({
    title: [headings[0], headings[column]].filter((part) => part !== "").join(": "),
    bars: rows.flatMap((row) => {
      const ratio = readRatio(row[column] ?? "");
      const aim = headings[column + 1] === "aim" ? Number.parseFloat(row[column + 1] ?? "") : Number.NaN;
      return ratio === undefined
        ? []
        : [{ label: row[0] ?? "", ...ratio, aim: Number.isNaN(aim) ? undefined : aim }];
    }),
  }));
}

const isMissed = ({ median, aim }: Bar) => aim !== undefined && median > aim;
const describeBar = (bar: Bar) =>
  `${bar.label}: ${bar.median}${bar.aim === undefined ? "" : `, aim ${bar.aim} ${isMissed(bar) ? "missed" : "met"}`}`;

function drawChart({ title, bars }: Chart, top: number, theme: Theme): string[] {
  const palette = palettes[theme];
  const largest = Math.max(...bars.map(({ upper, aim = 0 }) => Math.max(upper, aim)));
  const at = (value: number) => (barStart + (value / largest) * (barEnd - barStart)).toFixed(1);
  const lines = [
    `<text x="${margin}" y="${top + 24}" font-weight="600" fill="${palette.text}">${escapeXml(title)}</text>`,
  ];
  bars.forEach((bar, index) => {
    const y = top + titleHeight + index * rowHeight;
    const middle = y + rowHeight / 2;
    const length = (Number(at(bar.median)) - barStart).toFixed(1);
    lines.push(
      `<text x="${barStart - 10}" y="${middle + 4}" text-anchor="end" fill="${palette.text}">${escapeXml(bar.label)}</text>`,
      `<rect x="${barStart}" y="${y + 5}" width="${length}" height="14" rx="2" fill="${isMissed(bar) ? palette.missed : palette.met}"/>`,
      `<line x1="${at(bar.lower)}" x2="${at(bar.upper)}" y1="${middle}" y2="${middle}" stroke="${palette.text}"/>`,
    );
    const aim = bar.aim === undefined ? "" : ` · aim ${bar.aim}${isMissed(bar) ? ", missed" : ""}`;
    if (bar.aim !== undefined)
      lines.push(
        `<line x1="${at(bar.aim)}" x2="${at(bar.aim)}" y1="${y + 1}" y2="${y + 23}" stroke="${palette.text}" stroke-width="2" stroke-dasharray="4 2"/>`,
      );
    lines.push(
      `<text x="${barEnd + 10}" y="${middle + 4}" fill="${palette.muted}"><tspan fill="${palette.text}">${bar.median}</tspan>${aim}</text>`,
    );
  });
  return lines;
}

/**
 * The ratios of a benchmark as one SVG: bars with the middle half of the rounds as a line, and a dashed line for the aim.
 * `undefined` if its tables have no ratios.
 */
export function drawCharts(name: string, figures: Figures, theme: Theme): string | undefined {
  const charts = figures.tables.flatMap(chartsOf);
  if (charts.length === 0) return undefined;
  const palette = palettes[theme];
  const body: string[] = [];
  let top = 0;
  for (const chart of charts) {
    body.push(...drawChart(chart, top, theme));
    top += titleHeight + chart.bars.length * rowHeight;
  }
  const { date, node, rounds, time, load } = figures;
  const note = `Lower is better; dashed: the aim. ${date}, Node ${node}, ${rounds} rounds, ${time} time, load ${load.before} to ${load.after} on ${load.cores} cores`;
  const height = top + 40;
  const description = charts.map(({ title, bars }) => `${title}. ${bars.map(describeBar).join("; ")}.`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description" font-family="system-ui, sans-serif" font-size="12">`,
    `<title id="title">${escapeXml(`Benchmark ${name}: ratios and their aims`)}</title>`,
    `<desc id="description">${escapeXml(description.join(" "))}</desc>`,
    ...body,
    `<line x1="${margin}" x2="${width - margin}" y1="${top + 12}" y2="${top + 12}" stroke="${palette.rule}"/>`,
    `<text x="${margin}" y="${top + 30}" font-size="11" fill="${palette.muted}">${escapeXml(note)}</text>`,
    "</svg>",
    "",
  ].join("\n");
}
