import { stripVTControlCharacters } from "node:util";
import { formatProblem } from "../problems/format-problem.ts";
import type { Problem } from "../problems/problem.ts";
import type { TextStyle } from "./command.ts";
import { wrap } from "./layout.ts";
import { output } from "./output.ts";

/** Formats a problem as the command prints it: wrapped to the terminal. */
export function formatProblemText(problem: Omit<Problem, "args">, { color, width }: TextStyle): string {
  return formatProblem(problem, { color })
    .split("\n")
    .map((line) => wrap(line, width, /^ *(?:hint: )?/.exec(stripVTControlCharacters(line))?.[0].length || 2))
    .join("\n");
}

/** Prints the error that ends a command. */
export function printError({ severity, ...error }: Problem, asJson: boolean): void {
  if (asJson) output.json({ error });
  else output.note(formatProblemText({ ...error, severity }, output.stderrStyle()));
}
