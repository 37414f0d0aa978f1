import { fileOfPosition, type Problem } from "./problem.ts";
import { printable, shorten } from "./text.ts";

const styles = {
  bold: ["\u001b[1m", "\u001b[22m"],
  dim: ["\u001b[2m", "\u001b[22m"],
  error: ["\u001b[31m", "\u001b[39m"],
  warning: ["\u001b[33m", "\u001b[39m"],
  info: ["\u001b[36m", "\u001b[39m"],
} as const;

/** Formats the place of a problem on one line, most general part first; empty if there is none. */
function formatPlace(problem: Omit<Problem, "args">): string {
  const parts: string[] = [];
  if (problem.pack !== undefined) parts.push(problem.pack);
  if (problem.kind !== undefined && problem.item !== undefined) parts.push(`${problem.kind} ${problem.item}`);
  const file = fileOfPosition(problem);
  if (file !== undefined) {
    const position = problem.line === undefined ? "" : `:${problem.line}:${problem.column ?? 1}`;
    parts.push(`${file}${position}`);
  }
  return printable(parts.join(" › "));
}

/**
 * Formats a problem for people: one line each for severity, code and place, for the message, and for the hint; the output
 * of a program keeps its lines. Escapes characters that could control a terminal.
 */
export function formatProblem(
  problem: Omit<Problem, "args"> & { args?: unknown },
  { color = false }: { color?: boolean } = {},
): string {
  const paint = (style: keyof typeof styles, text: string) =>
    color && text !== "" ? `${styles[style][0]}${text}${styles[style][1]}` : text;
  const place = formatPlace(problem);
  const lines = [
    `${paint(problem.severity, problem.severity)} ${paint("bold", problem.code)}${place === "" ? "" : `  ${paint("dim", place)}`}`,
    `  ${printable(shorten(problem.message))}`,
  ];
  const { output } = (problem.args ?? {}) as { output?: unknown };
  for (const line of Array.isArray(output) ? output : [])
    lines.push(`    ${printable(shorten(String(line)))}`);
  if (problem.hint !== undefined)
    lines.push(`  ${paint("dim", "hint:")} ${printable(shorten(problem.hint))}`);
  return lines.join("\n");
}
