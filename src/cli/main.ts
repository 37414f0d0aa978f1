import type { Problem } from "../problems/index.ts";
import { hostVersion } from "../version.ts";
import type { CommandAnswer } from "./command.ts";
import type { ExitCode } from "./exit-code.ts";
import { output, type Write } from "./output.ts";

// Everything except `--version` is imported on demand, so that a command loads only the modules that it uses.

/** Returns the exit code; never throws. Tests run it in a folder of theirs, and `write` receives the output. */
export async function main(
  argv: readonly string[],
  { cwd, write }: { cwd?: string; write?: Write } = {},
): Promise<ExitCode> {
  if (write !== undefined) output.redirect(write);
  const [name, ...args] = argv;
  const asJson = argv.includes("--json");
  try {
    if (name === "--version" || name === "-v" || name === "version")
      return print("version", hostVersion, asJson);
    if (name === undefined || name === "--help" || name === "-h" || name === "help") {
      const { formatHelp } = await import("./help.ts");
      return print("help", await formatHelp(hostVersion, output.stdoutStyle().width), asJson);
    }
    return await runCommand(name, args, cwd);
  } catch (error) {
    const { reportFailure } = await import("./problem-text.ts");
    return reportFailure(error, asJson);
  }
}

function print(key: "help" | "version", text: string, asJson: boolean): ExitCode {
  if (asJson) output.json({ [key]: text });
  else output.answer(text);
  return 0;
}

async function runCommand(name: string, args: readonly string[], cwd: string | undefined): Promise<ExitCode> {
  const { parseCommandLine } = await import("./parse-command-line.ts");
  const { command, input } = await parseCommandLine(name, args, cwd);
  if (input.options.help) {
    const { formatCommandHelp } = await import("./help.ts");
    return print("help", formatCommandHelp(name, command, output.stdoutStyle().width), input.options.json);
  }
  let answer: CommandAnswer;
  try {
    answer = await command.run(input).finally(() => input.session?.close());
  } catch (error) {
    const { explainLayout, reportFailure } = await import("./problem-text.ts");
    const { reason } = input.interruption?.signal ?? {};
    return reportFailure(await explainLayout(error, input.cwd), input.options.json, reason);
  } finally {
    input.interruption?.restore();
  }
  const { json, formatText, exitCode, isDocument } = answer;
  const problems = answer.problems ?? (json as { problems?: Problem[] } | undefined)?.problems ?? [];
  if (input.options.json) {
    if (json !== undefined) output.json(json);
  } else if (formatText !== undefined) {
    (isDocument ? output.document : output.answer)(formatText(output.stdoutStyle()));
    if (problems.length > 0) {
      const { formatProblemText } = await import("./problem-text.ts");
      const style = output.stderrStyle();
      for (const problem of problems) output.note(`\n${formatProblemText(problem, style)}`);
    }
  }
  if (exitCode !== undefined) return exitCode;
  const { exitCodeOfProblems } = await import("./exit-code.ts");
  return exitCodeOfProblems(problems, input.options.strict);
}
