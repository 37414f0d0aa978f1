import { resolve } from "node:path";
import { printable, printableLines, TrailblazeError } from "../../problems/index.ts";
import type { ToolResult, Variant } from "../../runtime/tool-result.ts";
import type { Session } from "../../session/session.ts";
import { type CommandAnswer, defineCommand } from "../command.ts";
import { exitCodeOfFailure } from "../exit-code.ts";
import { shortenForPeople } from "../layout.ts";
import { flag } from "../options.ts";
import { output } from "../output.ts";
import { callOptions, withSession } from "../session/session-command.ts";
import { readTrail } from "../session/trail.ts";

export const command = defineCommand({
  summary: "Replay a trail, stopping at the first failure",
  usage: "<trail>",
  options: {
    "keep-going": flag("Continue after a failed step"),
    ...callOptions,
  },
  async run(input) {
    const { positionals, options, cwd } = input;
    const trail = readTrail(resolve(cwd, positionals[0] ?? ""));
    const use = async (session: Session, signal: AbortSignal): Promise<CommandAnswer> => {
      // Resolve every tool first, so that a trail with an unknown tool runs no step.
      for (const { tool } of trail) await session.resolveTool(tool);
      const steps: StepAnswer[] = [];
      let stopped = false;
      let interruption: TrailblazeError | undefined;
      for (const { tool, arguments: args } of trail) {
        const startTime = performance.now();
        let result: ToolResult;
        try {
          result = await session.callTool(tool, args, { signal });
        } catch (error) {
          if (!signal.aborted || !(error instanceof TrailblazeError)) throw error;
          // The answer contains the steps that have run.
          interruption = error;
          stopped = true;
          break;
        }
        const { variant, message } = result;
        const step = { tool, variant, message, elapsedMs: Math.round(performance.now() - startTime) };
        steps.push(step);
        if (output.stderrIsTerminal()) output.note(formatStep(step));
        // No step can succeed after a FatalError, even with --keep-going.
        stopped = variant === "FatalError" || (variant !== "Success" && !options["keep-going"]);
        if (stopped) break;
      }
      const failed = steps.filter(({ variant }) => variant !== "Success").length;
      const rest = trail.length - steps.length;
      const summary = `${steps.length - failed} of ${trail.length} steps succeeded${rest > 0 ? `; ${rest} not run` : ""}.`;
      const exitCode = failed > 0 || stopped ? 1 : 0;
      return {
        json: { steps, stopped },
        formatText: () => [...steps.map(formatStep), summary].join("\n"),
        problems: [...session.problems, ...(interruption ? [interruption.problem] : [])],
        exitCode: interruption === undefined ? exitCode : exitCodeOfFailure(interruption),
      };
    };
    const tools = trail.map(({ tool }) => tool);
    return withSession(input, use, tools);
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
