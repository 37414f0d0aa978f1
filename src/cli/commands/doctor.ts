import { checkHealth } from "../../install/check-health.ts";
import { printable } from "../../problems/index.ts";
import { defineCommand } from "../command.ts";
import { exitCodeOfProblems } from "../exit-code.ts";
import { catchSignals } from "../interruption.ts";
import { formatColumns, shortenForPeople } from "../layout.ts";
import { readSessionOptions, sessionOptions } from "../session/session-command.ts";

export const command = defineCommand({
  summary: "Diagnose why a session would fail to start",
  usage: "",
  options: sessionOptions,
  async run(input) {
    const options = readSessionOptions(input);
    const signal = await catchSignals(input, true);
    const health = await checkHealth({ ...options, signal });
    const rows = health.checks.map(({ name, ok, summary }) => {
      return [ok ? "ok" : "FAIL", name, printable(shortenForPeople(summary))];
    });
    const stopCode = signal.reason?.problem.args.signal === "SIGTERM" ? 143 : 130;
    // Nothing is wrong with the arguments or the config.
    const isLockMissing = health.problems.some(({ code }) => code === "LockMissing");
    const isBroken = health.checks.some(({ ok }) => !ok);
    const strict = input.options.strict;
    const found = exitCodeOfProblems(health.problems, strict) || (isBroken ? 1 : 0);
    return {
      json: health,
      formatText: ({ width }) => formatColumns(rows, width),
      problems: health.problems,
      exitCode: signal.aborted ? stopCode : isLockMissing ? 1 : found,
    };
  },
});
