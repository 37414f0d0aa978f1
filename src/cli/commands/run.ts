import { resolve } from "node:path";
import { type Problem, printable, printableLines, TrailblazeError } from "../../problems/index.ts";
import type { ToolResult, Variant } from "../../runtime/tool-result.ts";
import { defineCommand } from "../command.ts";
import { type ExitCode, exitCodeOfFailure } from "../exit-code.ts";
import { shortenForPeople } from "../layout.ts";
import { flag, installOption } from "../options.ts";
import { output } from "../output.ts";
import { readTrail } from "../session/read-trail.ts";
import { servedOption, sessionOptions, withSession } from "../session/session-command.ts";

export const command = defineCommand({
  summary: "Replay a trail, stopping at the first failure",
  usage: "<trail>",
  options: {
    "keep-going": flag("Continue after a failed step"),
    ...servedOption,
    ...installOption,
    ...sessionOptions,
  },
  async run(input) {
    const { positionals, options, cwd } = input;
    const trail = readTrail(resolve(cwd, positionals[0] ?? ""));
    const keepsGoing = options["keep-going"];
    return withSession(
      input,
      async (session, signal) => {
        // Resolve every tool first, so that a trail with an unknown tool runs no step.
        for (const { tool } of trail) await session.resolveTool(tool);
        const steps: StepAnswer[] = [];
        let stopped = false;
        let interruption: { exitCode: ExitCode; problem: Problem } | undefined;
        for (const step of trail) {
          const startTime = performance.now();
          let result: ToolResult;
          try {
            result = await session.callTool(step.tool, step.arguments, { signal });
          } catch (error) {
            if (!signal.aborted || !(error instanceof TrailblazeError)) throw error;
            // The answer contains the steps that have run.
            interruption = { exitCode: exitCodeOfFailure(error), problem: error.problem };
            stopped = true;
            break;
          }
          const { variant, message } = result;
          const elapsedMs = Math.round(performance.now() - startTime);
          const answer = { tool: step.tool, variant, message, elapsedMs };
          steps.push(answer);
          if (output.stderrIsTerminal()) output.note(formatStep(answer));
          // No step can succeed after a FatalError, even with --keep-going.
          stopped = variant === "FatalError" || (variant !== "Success" && !keepsGoing);
          if (stopped) break;
        }
        const failed = steps.filter(({ variant }) => variant !== "Success").length;
        const rest = trail.length - steps.length;
        const summary = `${steps.length - failed} of ${trail.length} steps succeeded${rest > 0 ? `; ${rest} not run` : ""}.`;
        return {
          json: { steps, stopped },
          formatText: () => [...steps.map(formatStep), summary].join("\n"),
          problems: [...session.problems, ...(interruption ? [interruption.problem] : [])],
          exitCode: interruption?.exitCode ?? (failed > 0 || stopped ? 1 : 0),
        };
      },
      trail.map(({ tool }) => tool),
    );
  },
});

interface StepAnswer {
  tool: string;
  variant: Variant;
  message: string;
  elapsedMs: number;
}

const formatStep = ({ tool, variant, message, elapsedMs }: StepAnswer) => {
  const sign = variant === "Success" ? "ok  " : "FAIL";
  const rest = variant === "Success" ? "" : `\n     ${variant}: ${printableLines(shortenForPeople(message))}`;
  return `${sign} ${printable(tool)} (${elapsedMs} ms)${rest}`;
};
