import { hostVersion } from "../version.ts";
import type { ExitCode } from "./exit-code.ts";
import { output } from "./output.ts";

// Everything but `--version` is loaded when it is needed: a command pays for what it does.

/** The command line with its command first, where options that every command has came before it. */
function putCommandFirst(argv: readonly string[]): readonly string[] {
  let index = 0;
  while (argv[index] === "--json" || argv[index]?.startsWith("--cwd")) {
    // What takes the place of a folder is another option: to be refused as it stands.
    if (argv[index] === "--cwd" && (argv[index + 1] ?? "-").startsWith("-")) return argv;
    index += argv[index] === "--cwd" ? 2 : 1;
  }
  const command = argv[index];
  // Without a command they change nothing; a --cwd that lacks its folder is refused as it stands.
  if (command === undefined) return index === argv.length ? [] : argv;
  return [command, ...argv.slice(0, index), ...argv.slice(index + 1)];
}

/** Commands that run code of packs, which may hold the process open long after it was needed. */
const runCode = new Set(["tools", "call", "run", "start", "types", "dev", "doctor"]);

/** Runs one command line and gives its exit code. Never throws. */
export async function main(argv: readonly string[]): Promise<ExitCode> {
  const exitCode = await dispatch(argv);
  const [name] = putCommandFirst(argv);
  if (name === undefined || !runCode.has(name)) return exitCode;
  await output.drained();
  process.exit(exitCode);
}

async function dispatch(argv: readonly string[]): Promise<ExitCode> {
  const [name, ...args] = putCommandFirst(argv);
  const asJson = argv.includes("--json");
  try {
    if (name === "--version" || name === "-v") {
      if (asJson) output.json({ version: hostVersion });
      else output.answer(hostVersion);
      return 0;
    }
    if (name === undefined || name === "--help" || name === "-h" || name === "help") {
      const topic = args.find((argument) => !argument.startsWith("-"));
      if (topic !== undefined) return await runCommand(topic, ["--help", ...(asJson ? ["--json"] : [])]);
      const { formatHelp } = await import("./help.ts");
      if (asJson) output.json({ help: formatHelp(hostVersion) });
      else output.answer(formatHelp(hostVersion));
      return 0;
    }
    return await runCommand(name, args);
  } catch (error) {
    return await reportFailure(error, asJson);
  }
}

async function runCommand(name: string, args: readonly string[]): Promise<ExitCode> {
  const { parseCommandLine } = await import("./parse-command-line.ts");
  const { command, input } = await parseCommandLine(name, args);
  if (input.options.help === true) {
    const { formatCommandHelp } = await import("./help.ts");
    if (input.options.json) output.json({ help: formatCommandHelp(name) });
    else output.answer(formatCommandHelp(name));
    return 0;
  }
  const { run } = await command.load();
  const answer = await run(input);
  if (answer.isSilent) {
    // What there was to say was said while it ran.
  } else if (input.options.json) {
    output.json(answer.json);
  } else {
    const print = answer.isDocument ? output.document : output.answer;
    print(answer.formatText(output.stdoutStyle()));
    if (answer.problems.length > 0 && !answer.problemsAreInText) {
      const { formatProblem } = await import("../problems/format-problem.ts");
      const style = output.stderrStyle();
      for (const problem of answer.problems) output.note(`\n${formatProblem(problem, style)}`);
    }
  }
  const { exitCodeOfAnswer } = await import("./exit-code.ts");
  return exitCodeOfAnswer(answer.problemsAreAside ? [] : answer.problems, {
    strict: input.options.strict === true,
    failed: answer.failed === true,
  });
}

/** Ends a command that has no answer. What is not one of our own errors is a fault of ours, and says so. */
async function reportFailure(error: unknown, asJson: boolean): Promise<ExitCode> {
  const { failure, formatProblem, printableLines, TrailblazeError } = await import("../problems/index.ts");
  const { exitCodeOfFailure } = await import("./exit-code.ts");
  const known =
    error instanceof TrailblazeError
      ? error
      : failure("InternalError", { reason: error instanceof Error ? error.message : String(error) });
  const { problem } = known;
  if (asJson) {
    const { severity: _, ...rest } = problem;
    output.json({ error: rest });
  } else {
    output.note(formatProblem(problem, output.stderrStyle()));
    if (known !== error && error instanceof Error && process.env.TRAILBLAZE_DEBUG)
      output.note(printableLines(error.stack ?? ""));
  }
  return exitCodeOfFailure(known);
}
