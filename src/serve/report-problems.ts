import { formatProblem, type Problem, printableLines } from "../problems/index.ts";
import { logToStderr } from "./transports.ts";

/** Problems that tell of an event, which can happen again. */
const eventCodes = ["ServerDied", "ChangeNotApplied"];

/** Prints each problem once, except for hints about what works. */
export function createReporter(): (problem: Problem) => void {
  const reported = new Set<unknown>();
  return (problem) => {
    const { code, message, pack, item } = problem;
    const key = eventCodes.includes(code) ? problem : JSON.stringify([code, message, pack, item]);
    if (problem.severity === "info" || reported.has(key)) return;
    reported.add(key);
    logToStderr(printableLines(formatProblem(problem)));
  };
}
