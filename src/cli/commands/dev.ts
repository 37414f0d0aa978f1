import { newProblems, type WatchEvent, type WatchResult, watchPack } from "../../author/watch-pack.ts";
import { type Problem, printable } from "../../problems/index.ts";
import { countOf } from "../../problems/text.ts";
import { defineCommand, type TextStyle } from "../command.ts";
import { exitCodeOfProblems } from "../exit-code.ts";
import { withSignals } from "../interruption.ts";
import { flag, sessionOptions } from "../options.ts";
import { output } from "../output.ts";
import { formatProblemText } from "../problem-text.ts";
import { formatPretty } from "../report-formats.ts";
import { readSessionOptions } from "../session/session-command.ts";

export const command = defineCommand({
  summary: "Watch a pack: validate it and reopen a session on every change",
  usage: "[folder]",
  options: {
    once: flag("Validate and open a session once, then exit"),
    ...sessionOptions,
  },
  async run(input) {
    const { positionals, options } = input;
    const [directory = "."] = positionals;
    const isOnce = options.once;
    const asJson = options.json;
    const style = asJson ? output.stderrStyle() : output.stdoutStyle();
    const say = asJson ? output.note : output.answer;
    let reported: readonly Problem[] = [];
    let isFirst = true;
    const result = await withSignals((signal) =>
      watchPack(directory, {
        ...readSessionOptions(input),
        strict: options.strict,
        once: isOnce,
        signal,
        onEvent(event) {
          if (event.type === "validated") reported = event.report.report.problems;
          say(formatEvent(event, reported, style));
          if (isOnce || !isFirst) return;
          isFirst = false;
          output.note("Watching for changes. Press Ctrl-C to stop.");
        },
      }),
    );
    const { ok, problems } = result;
    // The problems were reported while watching, and Ctrl-C is not a failure.
    const exitCode = isOnce ? exitCodeOfProblems(problems, options.strict) || (ok ? 0 : 1) : 0;
    return {
      json: result,
      formatText: isOnce ? undefined : () => formatResult(result),
      exitCode,
    };
  },
});

/** An event as text. `reported`: the problems already reported since the last validation. */
export function formatEvent(event: WatchEvent, reported: readonly Problem[], style: TextStyle): string {
  switch (event.type) {
    case "validated":
      return `${event.run === 1 ? "" : "\n"}${formatPretty(event.report, style)}`;
    case "reported":
      return `\n${formatProblemText(event.problem, style)}`;
    case "notOpened":
      return `${formatProblemText(event.problem, style)}\nNo session is open.`;
    case "opened": {
      const { tools, added, removed, problems } = event;
      const changes = [...added.map((name) => `+ ${name}`), ...removed.map((name) => `- ${name}`)];
      const lines = changes.length > 0 ? changes : tools;
      return [
        ...newProblems(reported, problems).map((problem) => `${formatProblemText(problem, style)}\n`),
        `A session is open with ${countOf(tools.length, "tool")}${lines.length > 0 ? ":" : "."}`,
        ...lines.map((line) => `  ${printable(line)}`),
      ].join("\n");
    }
  }
}

function formatResult({ runs, ok }: WatchResult): string {
  return `Stopped after ${countOf(runs, "validation")}. The pack is ${ok ? "valid" : "invalid"}.`;
}
