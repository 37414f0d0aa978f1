import { resolve } from "node:path";
import { carryIntegers, stringifyExactly } from "../../data/exact-integers.ts";
import { printable, shorten } from "../../problems/index.ts";
import type { ToolProgress } from "../../session/call-listeners.ts";
import type { Command, CommandAnswer, CommandInput } from "../command.ts";
import { integer, numberOf, text } from "../options.ts";
import { output } from "../output.ts";
import { formatResult } from "../session/format-result.ts";
import { completeArguments, readGivenArguments } from "../session/read-arguments.ts";
import { openRecordingFile } from "../session/recording-file.ts";
import { withSession } from "../session/session-command.ts";
import { installOption, servedOption, sessionOptions } from "../session/session-options.ts";

export const command: Command = {
  summary: "Call a tool by its advertised or qualified name, or by label/tool",
  usage: "<tool> [key=value...]",
  options: {
    args: text("JSON", "Arguments as a JSON object, or - to read them from stdin"),
    timeout: integer("MS", 1, "Timeout of the call in milliseconds"),
    record: text("FILE", "Append the call to this trail if it succeeds"),
    ...servedOption,
    ...installOption,
    ...sessionOptions,
  },
  run,
};

/** Shows the progress of a tool on a terminal. */
function showProgress({ progress, total, message }: ToolProgress): void {
  if (!output.stderrIsTerminal()) return;
  const share = total === undefined ? `${progress}` : `${progress}/${total}`;
  output.note(message === undefined ? share : `${share} ${printable(shorten(message))}`);
}

/** Calls one tool of a session. */
async function run(input: CommandInput): Promise<CommandAnswer> {
  const { positionals, options, cwd } = input;
  const [name = "", ...words] = positionals;
  const timeoutMs = numberOf(options.timeout);
  const given = await readGivenArguments(options.args, words);
  const recordingFile =
    options.record === undefined ? undefined : openRecordingFile(resolve(cwd, String(options.record)));
  const answer = withSession(
    input,
    async (session, signal): Promise<CommandAnswer> => {
      const tool = await session.resolveTool(name);
      const args = completeArguments(given, tool.inputSchema);
      const startTime = performance.now();
      const result = await session.callTool(name, args, { signal, timeoutMs, onProgress: showProgress });
      const elapsedMs = Math.round(performance.now() - startTime);
      await recordingFile?.append(session.recording);
      const { variant, message, content, structuredContent, details } = result;
      return {
        json: carryIntegers(result, {
          variant,
          message,
          content,
          structuredContent,
          details,
          elapsedMs,
        }),
        stringify: (document: unknown) => stringifyExactly(document, 2),
        formatText: () => formatResult(result),
        problems: session.problems,
        exitCode: variant === "Success" ? 0 : 1,
      };
    },
    [name],
    { defaultStart: "lazy" },
  );
  return answer.finally(() => recordingFile?.close());
}
