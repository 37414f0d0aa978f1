import { stripVTControlCharacters } from "node:util";
import { findPacks } from "../discovery/find-packs.ts";
import { discoveryPort } from "../files/node-discovery-port.ts";
import { formatProblem } from "../problems/format-problem.ts";
import { failure, type Problem, printableLines, TrailblazeError } from "../problems/index.ts";
import { countOf, printable } from "../problems/text.ts";
import type { ValidationReport } from "../validate/validate-target.ts";
import type { TextStyle } from "./command.ts";
import { type ExitCode, exitCodeOfFailure } from "./exit-code.ts";
import { wrap } from "./layout.ts";
import { output } from "./output.ts";

export function formatProblemText(problem: Omit<Problem, "args">, { color, width }: TextStyle): string {
  return formatProblem(problem, { color })
    .split("\n")
    .map((line) => wrap(line, width, /^ *(?:hint: )?/.exec(stripVTControlCharacters(line))?.[0].length || 2))
    .join("\n");
}

export function formatReport(
  { ok, pack, version, problems }: ValidationReport,
  style: TextStyle,
  isOneOfSeveral = false,
): string {
  const shown = problems.map((problem) => (isOneOfSeveral ? problem : { ...problem, pack: undefined }));
  const blocks = shown.map((problem) => `${formatProblemText(problem, style)}\n`);
  const name = printable(`${pack ?? "The package"} ${version ?? ""}`.trimEnd());
  const counts = (["error", "warning"] as const).map((severity) =>
    countOf(problems.filter((problem) => problem.severity === severity).length, severity),
  );
  return [...blocks, `${name} is ${ok ? "valid" : "invalid"}: ${counts.join(", ")}`].join("\n");
}

export function printError({ severity, ...error }: Problem, asJson: boolean): void {
  if (asJson) output.json({ error });
  else output.note(formatProblemText({ ...error, severity }, output.stderrStyle()));
}

/** An error that is not a `TrailblazeError` is reported as `InternalError`. `stopped`: why the command was to end. */
export function reportFailure(error: unknown, asJson: boolean, stopped?: TrailblazeError): ExitCode {
  const known =
    error instanceof TrailblazeError
      ? error
      : failure("InternalError", { reason: error instanceof Error ? error.message : String(error) });
  printError(known.problem, asJson);
  if (!asJson && known !== error && error instanceof Error && process.env.TRAILBLAZE_DEBUG)
    output.note(printableLines(error.stack ?? ""));
  const isStopped = stopped !== undefined && exitCodeOfFailure(stopped) === 130;
  return isStopped ? 130 : exitCodeOfFailure(known);
}

/** The error for a name that is not found because of how packages are installed; otherwise the same error. */
export async function explainLayout(error: unknown, cwd: string): Promise<unknown> {
  const codes = ["PackNotInstalled", "PromptNotFound", "ToolsetNotFound"];
  if (!(error instanceof TrailblazeError && codes.includes(error.code))) return error;
  const { problems } = await findPacks(discoveryPort, { cwd });
  const layout = problems.find((problem) => problem.code === "UnsupportedLayout");
  return layout === undefined ? error : new TrailblazeError({ ...layout, severity: "error" });
}
