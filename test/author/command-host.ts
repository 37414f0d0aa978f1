// Runs one of the commands for authors as `trailblaze` would. Its arguments: the command and its own.
import { parseArgs } from "node:util";
import { authorCommands } from "../../src/cli/author/commands-table.ts";
import { commonOptions } from "../../src/cli/commands.ts";
import { exitCodeOfAnswer, exitCodeOfFailure } from "../../src/cli/exit-code.ts";
import { output } from "../../src/cli/output.ts";
import { formatProblem, TrailblazeError } from "../../src/problems/index.ts";

const [name = "", ...args] = process.argv.slice(2);
const command = authorCommands[name];
if (command === undefined) throw new Error(`There is no command ${name}`);
const { values, positionals } = parseArgs({
  args,
  options: { ...commonOptions, ...command.options },
  allowPositionals: true,
});
const asJson = values.json === true;
let exitCode: number;
try {
  const { run } = await command.load();
  const answer = await run({ positionals, options: values, cwd: process.cwd() });
  if (!answer.isSilent && asJson) output.json(answer.json);
  else if (!answer.isSilent) output.answer(answer.formatText(output.stdoutStyle()));
  const problems = answer.problemsAreAside ? [] : answer.problems;
  exitCode = exitCodeOfAnswer(problems, { strict: values.strict === true, failed: answer.failed === true });
} catch (error) {
  if (!(error instanceof TrailblazeError)) throw error;
  if (asJson) output.json({ error: error.problem });
  else output.note(formatProblem(error.problem));
  exitCode = exitCodeOfFailure(error);
}
await output.drained();
process.exit(exitCode);
