import { resolve } from "node:path";
import { carryIntegers, stringifyExactly } from "../../data/exact-integers.ts";
import { printable, shorten } from "../../problems/index.ts";
import type { ToolProgress } from "../../session/host-functions.ts";
import type { Session } from "../../session/session.ts";
import { formatRecording } from "../../session/session-memory.ts";
import { type CommandAnswer, defineCommand } from "../command.ts";
import { integer, text } from "../options.ts";
import { output } from "../output.ts";
import { formatResult } from "../session/format-result.ts";
import { completeArguments, readGivenArguments } from "../session/read-arguments.ts";
import { callOptions, withSession } from "../session/session-command.ts";
import { openTrail } from "../session/trail.ts";

export const command = defineCommand({
  summary: "Call a tool by its advertised or qualified name, or by label/tool",
  usage: "<tool> [key=value...]",
  options: {
    args: text("JSON", "Arguments as a JSON object, or - to read them from stdin"),
    timeout: integer("MS", 1, "Timeout of the call in milliseconds"),
    record: text("FILE", "Append the call to this trail if it succeeds"),
    ...callOptions,
  },
  async run(input) {
    const { positionals, options, cwd } = input;
    const [name = "", ...words] = positionals;
    const { timeout: timeoutMs, record } = options;
    const given = await readGivenArguments(options.args, words);
    const trail = record === undefined ? undefined : openTrail(resolve(cwd, record));
    const use = async (session: Session, signal: AbortSignal): Promise<CommandAnswer> => {
      const tool = await session.resolveTool(name);
      const args = completeArguments(given, tool.inputSchema);
      const startTime = performance.now();
      const result = await session.callTool(name, args, { signal, timeoutMs, onProgress: showProgress });
      const elapsedMs = Math.round(performance.now() - startTime);
      trail?.append(await formatRecording(session.recording));
      const { variant, message, content, structuredContent, details } = result;
      return {
        json: carryIntegers(result, { variant, message, content, structuredContent, details, elapsedMs }),
        stringify: (document: unknown) => stringifyExactly(document, 2),
        formatText: () => formatResult(result),
        problems: session.problems,
        exitCode: variant === "Success" ? 0 : 1,
      };
    };
    const defaultMaxChars = output.stdoutIsTerminal() ? 100_000 : undefined;
    return await withSession(input, use, [name], { defaultStart: "lazy", defaultMaxChars });
  },
});

/** Shows the progress of a tool on a terminal. */
function showProgress({ progress, total, message }: ToolProgress): void {
  if (!output.stderrIsTerminal()) return;
  const share = total === undefined ? `${progress}` : `${progress}/${total}`;
  output.note(message === undefined ? share : `${share} ${printable(shorten(message))}`);
}
