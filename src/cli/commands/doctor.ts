import { relative } from "node:path";
import { checkHealth, type Health } from "../../install/check-health.ts";
import { failure, listOf, printable } from "../../problems/index.ts";
import type { CommandAnswer, CommandInput, TextStyle } from "../command.ts";
import { abbreviateHome, formatColumns, shortenForPeople } from "../layout.ts";
import { output } from "../output.ts";
import { readSessionOptions, withStopSignal } from "../session/session-command.ts";

function formatHealth({ checks }: Pick<Health, "checks">, { color, width }: TextStyle): string {
  const paint = (code: number, text: string) => (color ? `\u001b[${code}m${text}\u001b[39m` : text);
  const rows = checks.map(({ name, ok, summary }) => [
    ok ? paint(32, "ok") : paint(31, "FAIL"),
    name,
    printable(shortenForPeople(abbreviateHome(summary))),
  ]);
  return formatColumns(rows, width);
}

/** With `--fix`: undoes an interrupted `add` or `remove`. */
async function fix({ options, cwd }: CommandInput): Promise<CommandAnswer> {
  const others = Object.keys(options).filter((name) => !["fix", "json", "strict", "cwd"].includes(name));
  if (others.length > 0) {
    const reason = `--fix checks nothing, so it cannot be combined with --${others[0]}`;
    throw failure("InvalidArguments", { reason });
  }
  const { withInterruption } = await import("../remote/ask.ts");
  const { undoInterrupted } = await import("../../npm/managers/undo-interrupted.ts");
  const { directory, changes, files, isInstalled } = await withInterruption((signal) =>
    undoInterrupted({
      cwd,
      signal,
      onCommand: (command) => output.note(`Running ${printable(command)}`),
      onWait: (what) => output.note(`Waiting for ${printable(what)}.`),
    }),
  );
  const names = files.map((file) => relative(directory, file));
  const done = changes.map(({ command, packs }) => `\`${command} ${packs.join(" ")}\``);
  const restored = names.length === 0 ? "no file differed" : `restored ${listOf(names, "and")}`;
  const rest = isInstalled ? "" : "; node_modules may differ: run your package manager's install command";
  const summary =
    done.length === 0 ? "no change was interrupted" : `undid ${listOf(done, "and")}: ${restored}${rest}`;
  const health = {
    project: directory,
    checks: [{ name: "changes", ok: true, summary } as const],
    problems: [],
  };
  return { json: health, formatText: (style) => formatHealth(health, style), problems: [] };
}

/** Checks whether a session can start here. After Ctrl-C or SIGTERM, answers what is known. */
export async function run(input: CommandInput): Promise<CommandAnswer> {
  if (input.options.fix === true) return fix(input);
  const options = readSessionOptions(input);
  return withStopSignal(input, async (signal) => {
    const health = await checkHealth({ ...options, signal });
    // Nothing is wrong with the arguments or the config.
    const isLockMissing = health.problems.some(({ code }) => code === "LockMissing");
    return {
      json: health,
      formatText: (style) => formatHealth(health, style),
      problems: health.problems,
      // An entry in a client's config may belong to another project, so it does not affect a session here.
      failed: health.checks.some(({ name, ok }) => !ok && name !== "clients"),
      ...(isLockMissing ? { exitCode: 1 as const } : {}),
      ...(signal.aborted ? { exitCode: signal.reason.problem.args.signal === "SIGTERM" ? 143 : 130 } : {}),
    };
  });
}
