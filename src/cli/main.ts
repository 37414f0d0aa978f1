import { parseArgs } from "node:util";
import type { Problem } from "../problems/index.ts";
import { hostVersion } from "../version.ts";
import type { CommandAnswer } from "./command.ts";
import type { ExitCode } from "./exit-code.ts";
import { output, type Write } from "./output.ts";

// Everything except `--version` is imported on demand, so that a command loads only the modules that it uses.

/** Moves the command to the front, past `--json` and `--cwd`. */
function putCommandFirst(argv: readonly string[]): readonly string[] {
  const options = { cwd: { type: "string" }, json: { type: "boolean" } } as const;
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true });
  const first = tokens.find((token) => token.kind !== "option" || !Object.hasOwn(options, token.name));
  if (first !== undefined) return [argv[first.index] ?? "", ...argv.toSpliced(first.index, 1)];
  // The parser rejects a --cwd without a folder.
  return argv.at(-1) === "--cwd" ? argv : [];
}

/** Returns the exit code; never throws. Tests run it in a folder of theirs, and `write` receives the output. */
export async function main(
  argv: readonly string[],
  { cwd, write }: { cwd?: string; write?: Write } = {},
): Promise<ExitCode> {
  if (write !== undefined) output.redirect(write);
  const [name, ...args] = putCommandFirst(argv);
  const asJson = argv.includes("--json");
  try {
    if (name === "--version" || name === "-v" || name === "version") {
      if (asJson) output.json({ version: hostVersion });
      else output.answer(hostVersion);
      return 0;
    }
    if (name === undefined || name === "--help" || name === "-h" || name === "help") {
      const topic = args.find((argument) => !argument.startsWith("-"));
      if (topic !== undefined) return await runCommand(topic, ["--help", ...(asJson ? ["--json"] : [])], cwd);
      const { formatHelp } = await import("./help.ts");
      const help = await formatHelp(hostVersion, asJson ? undefined : output.stdoutStyle().width);
      if (asJson) output.json({ help });
      else output.answer(help);
      return 0;
    }
    return await runCommand(name, args, cwd);
  } catch (error) {
    const { reportFailure } = await import("./problem-text.ts");
    return reportFailure(error, asJson);
  }
}

async function runCommand(name: string, args: readonly string[], cwd: string | undefined): Promise<ExitCode> {
  const { parseCommandLine } = await import("./parse-command-line.ts");
  const { command, input } = await parseCommandLine(name, args, cwd);
  if (input.options.help) {
    const { formatCommandHelp } = await import("./help.ts");
    if (input.options.json) output.json({ help: formatCommandHelp(name, command) });
    else output.answer(formatCommandHelp(name, command, output.stdoutStyle().width));
    return 0;
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
    if (json !== undefined) output.json(json, answer.stringify);
  } else if (formatText !== undefined) {
    const print = isDocument ? output.document : output.answer;
    print(formatText(output.stdoutStyle()));
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
