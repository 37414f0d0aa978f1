import { newProblems, type WatchEvent, type WatchResult, watchPack } from "../../author/watch-pack.ts";
import { formatProblem, type Problem, printable } from "../../problems/index.ts";
import type { CommandAnswer, CommandInput, TextStyle } from "../command.ts";
import { output } from "../output.ts";
import { withInterruption } from "../remote/ask.ts";
import { formatPretty } from "../report/report-formats.ts";
import { readSessionOptions } from "../session/session-command.ts";

const countTools = (tools: readonly string[]): string =>
  `${tools.length} tool${tools.length === 1 ? "" : "s"}`;

/** What is said of an event. `told`: the problems that were said since the last validation. */
export function formatEvent(event: WatchEvent, told: readonly Problem[], style: TextStyle): string {
  switch (event.type) {
    case "validated":
      return `${event.run === 1 ? "" : "\n"}${formatPretty(event.report, style)}`;
    case "failed":
    case "reported":
      return `\n${formatProblem(event.problem, style)}`;
    case "notOpened":
      return `${formatProblem(event.problem, style)}\nThere is no session.`;
    case "ignored":
      return printable(`${event.path} changes whenever the session starts, so its changes count no more.`);
    case "opened": {
      const { tools, added, removed, problems } = event;
      const changes = [...added.map((name) => `+ ${name}`), ...removed.map((name) => `- ${name}`)];
      const lines = changes.length > 0 ? changes : tools;
      return [
        ...newProblems(told, problems).map((problem) => `${formatProblem(problem, style)}\n`),
        `A session is open, with ${countTools(tools)}${lines.length > 0 ? ":" : "."}`,
        ...lines.map((line) => `  ${printable(line)}`),
      ].join("\n");
    }
  }
}

function formatResult({ runs, ok }: WatchResult): string {
  return `Ended after ${runs} validation${runs === 1 ? "" : "s"}; the last found the pack ${ok ? "valid" : "not valid"}.`;
}

/** Watches a pack until Ctrl-C. */
export async function run(input: CommandInput): Promise<CommandAnswer> {
  const { positionals, options } = input;
  const [directory = "."] = positionals;
  const isOnce = options.once === true;
  const asJson = options.json === true;
  const style = asJson ? output.stderrStyle() : output.stdoutStyle();
  const say = asJson ? output.note : output.answer;
  let told: readonly Problem[] = [];
  let isFirst = true;
  const result = await withInterruption((signal) =>
    watchPack(directory, {
      ...readSessionOptions(input),
      strict: options.strict === true,
      once: isOnce,
      signal,
      onEvent(event) {
        if (event.type === "validated") told = event.report.report.problems;
        say(formatEvent(event, told, style));
        if (isOnce || !isFirst) return;
        isFirst = false;
        output.note("Watching for changes; Ctrl-C ends.");
      },
    }),
  );
  return {
    json: result,
    formatText: () => formatResult(result),
    problems: result.problems,
    problemsAreInText: true,
    isSilent: isOnce && !asJson,
    // Whoever watched saw them, and ended it when they had seen enough.
    problemsAreAside: !isOnce,
    failed: isOnce && !result.ok,
  };
}
