import { createColors } from "picocolors";
import type { Problem } from "./problem.ts";
import { printable } from "./text.ts";

const labels = { error: "error", warning: "warning", info: "info" } as const;

/** The place of a problem on one line, most general part first; empty when there is none. */
function formatPlace(problem: Problem): string {
  const parts: string[] = [];
  if (problem.pack !== undefined) parts.push(problem.pack);
  if (problem.kind !== undefined && problem.item !== undefined) parts.push(`${problem.kind} ${problem.item}`);
  if (problem.file !== undefined) {
    const position = problem.line === undefined ? "" : `:${problem.line}:${problem.column ?? 1}`;
    parts.push(`${problem.file}${position}`);
  }
  return printable(parts.join(" › "));
}

/**
 * A problem as text for people: severity, code and place, then the message, then the hint, a line each.
 * No character of a pack's text can act on a terminal.
 */
export function formatProblem(problem: Problem, { color = false }: { color?: boolean } = {}): string {
  const colors = createColors(color);
  const paint = { error: colors.red, warning: colors.yellow, info: colors.cyan }[problem.severity];
  const place = formatPlace(problem);
  const lines = [
    `${paint(labels[problem.severity])} ${colors.bold(problem.code)}${place === "" ? "" : `  ${colors.dim(place)}`}`,
    `  ${printable(problem.message)}`,
  ];
  if (problem.hint !== undefined) lines.push(`  ${colors.dim("hint:")} ${printable(problem.hint)}`);
  return lines.join("\n");
}
