import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { type Problem, TrailblazeError } from "../../problems/index.ts";
import type { Variant } from "../../runtime/tool-result.ts";
import type { Session } from "../../session/session.ts";
import type { CommandAnswer, CommandInput } from "../command.ts";
import { type ExitCode, exitCodeOfFailure } from "../exit-code.ts";
import { output } from "../output.ts";
import { formatProblemText } from "../problem-text.ts";
import { formatResult } from "../session/format-result.ts";
import { completeArguments, readGivenArguments } from "../session/read-arguments.ts";
import { openRecordingFile } from "../session/recording-file.ts";
import { withSession } from "../session/session-command.ts";

interface ShellStep {
  tool: string;
  variant: Variant;
  message: string;
  elapsedMs: number;
}

/** Splits a line at white space outside of quotes, and removes the quotes. */
const splitLine = (line: string): string[] =>
  (line.match(/(?:"[^"]*"|'[^']*'|[^\s"']|["'])+/g) ?? []).map((word) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, "$1$2"),
  );

/** Calls the tool of a line: `TOOL key=value...`, or `TOOL {...}` with a JSON object. */
async function callLine(session: Session, line: string, signal: AbortSignal) {
  const [, name = "", rest = ""] = /^(\S+)\s*(.*)$/s.exec(line) ?? [];
  const given = rest.startsWith("{")
    ? await readGivenArguments(rest, [])
    : await readGivenArguments(undefined, splitLine(rest));
  const tool = await session.resolveTool(name);
  const startTime = performance.now();
  const result = await session.callTool(name, completeArguments(given, tool.inputSchema), { signal });
  return { name, result, elapsedMs: Math.round(performance.now() - startTime) };
}

/** Calls tools of one session, one for each line of stdin. */
export async function run(input: CommandInput): Promise<CommandAnswer> {
  const { options, cwd } = input;
  const asJson = options.json === true;
  const recordingFile =
    options.record === undefined ? undefined : openRecordingFile(resolve(cwd, String(options.record)));
  const answer = withSession(input, async (session, signal) => {
    if (process.stdin.isTTY)
      output.note("The session is open. Type TOOL key=value... to call a tool, and press Ctrl-D to stop.");
    const steps: ShellStep[] = [];
    const problems: Problem[] = [];
    let exitCode: ExitCode | undefined;
    let recorded = 0;
    for await (const line of createInterface({ input: process.stdin, signal })) {
      const written = line.trim();
      if (written === "" || written.startsWith("#")) continue;
      try {
        const { name, result, elapsedMs } = await callLine(session, written, signal);
        steps.push({ tool: name, variant: result.variant, message: result.message, elapsedMs });
        if (!asJson) output.answer(formatResult(result));
        await recordingFile?.append(session.recording.slice(recorded));
        recorded = session.recording.length;
      } catch (error) {
        if (!(error instanceof TrailblazeError)) throw error;
        problems.push(error.problem);
        if (!asJson) output.note(formatProblemText(error.problem, output.stderrStyle()));
        if (error.code === "SessionClosed") {
          exitCode = exitCodeOfFailure(error);
          break;
        }
      }
    }
    if (signal.aborted) exitCode = exitCodeOfFailure(signal.reason);
    return {
      json: { steps, problems },
      formatText: () => "",
      problems: asJson ? [...session.problems, ...problems] : session.problems,
      problemsAreAside: true,
      isSilent: !asJson,
      failed: problems.length > 0 || steps.some(({ variant }) => variant !== "Success"),
      ...(exitCode === undefined ? {} : { exitCode }),
    };
  });
  return answer.finally(() => recordingFile?.close());
}
