import { appendFileSync, fstatSync, openSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { carryIntegers, stringifyExactly } from "../../data/exact-integers.ts";
import { failure, printable, quote, shorten, TrailblazeError } from "../../problems/index.ts";
import type { ToolProgress } from "../../session/host-functions.ts";
import { formatRecording } from "../../session/session-memory.ts";
import { type CommandAnswer, defineCommand } from "../command.ts";
import { installOption, integer, text } from "../options.ts";
import { output } from "../output.ts";
import { formatResult } from "../session/format-result.ts";
import { completeArguments, readGivenArguments } from "../session/read-arguments.ts";
import { parseTrail } from "../session/read-trail.ts";
import { servedOption, sessionOptions, withSession } from "../session/session-command.ts";

export const command = defineCommand({
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
  async run(input) {
    const { positionals, options, cwd } = input;
    const [name = "", ...words] = positionals;
    const timeoutMs = options.timeout;
    const given = await readGivenArguments(options.args, words);
    const record = options.record;
    const trail = record === undefined ? undefined : openTrail(resolve(cwd, record));
    return await withSession(
      input,
      async (session, signal): Promise<CommandAnswer> => {
        const tool = await session.resolveTool(name);
        const args = completeArguments(given, tool.inputSchema);
        const startTime = performance.now();
        const result = await session.callTool(name, args, { signal, timeoutMs, onProgress: showProgress });
        const elapsedMs = Math.round(performance.now() - startTime);
        if (trail !== undefined)
          appendFileSync(
            trail.descriptor,
            `${trail.isWithinLine ? "\n" : ""}${await formatRecording(session.recording)}`,
          );
        const { variant, message, content, structuredContent, details } = result;
        return {
          json: carryIntegers(result, { variant, message, content, structuredContent, details, elapsedMs }),
          stringify: (document: unknown) => stringifyExactly(document, 2),
          formatText: () => formatResult(result),
          problems: session.problems,
          exitCode: variant === "Success" ? 0 : 1,
        };
      },
      [name],
      { defaultStart: "lazy", defaultMaxChars: output.stdoutIsTerminal() ? 100_000 : undefined },
    );
  },
});

/** Opens a trail that calls can be appended to, before one is made. Throws `InvalidArguments`. */
function openTrail(file: string): { descriptor: number; isWithinLine: boolean } {
  try {
    const descriptor = openSync(file, "a+");
    // Reading a pipe would wait for its other end.
    const before = fstatSync(descriptor).isFile() ? readFileSync(descriptor) : Buffer.alloc(0);
    // Whether another call can follow: JSON is a trail, too, but none that grows.
    parseTrail(Buffer.concat([before, Buffer.from("\n- next: {}\n")]), file);
    return { descriptor, isWithinLine: before.length > 0 && before.at(-1) !== 0x0a };
  } catch (error) {
    const reason = `Cannot append to ${quote(file, 400)}: ${error instanceof TrailblazeError ? "not a trail" : (error as Error).message}`;
    const hint = "Pass a new file, or a YAML array of calls: `- tool_name: { argument: value }`.";
    throw failure("InvalidArguments", { reason, hint });
  }
}

/** Shows the progress of a tool on a terminal. */
function showProgress({ progress, total, message }: ToolProgress): void {
  if (!output.stderrIsTerminal()) return;
  const share = total === undefined ? `${progress}` : `${progress}/${total}`;
  output.note(message === undefined ? share : `${share} ${printable(shorten(message))}`);
}
