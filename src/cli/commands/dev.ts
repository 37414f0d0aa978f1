import { once } from "node:events";
import { resolve } from "node:path";
import { findProject } from "../../discovery/project.ts";
import { discoveryPort } from "../../files/node-discovery-port.ts";
import { hasErrors, type Problem, printable, TrailblazeError } from "../../problems/index.ts";
import { countOf } from "../../problems/text.ts";
import { watchFolder } from "../../processes/folder-watcher.ts";
import type { Session } from "../../session/session.ts";
import type { SessionOptions } from "../../session/session-options.ts";
import { openSession } from "../../session.ts";
import { validateTarget } from "../../validate/validate-target.ts";
import { defineCommand, type TextStyle } from "../command.ts";
import { catchSignals } from "../interruption.ts";
import { output } from "../output.ts";
import { formatProblemText, formatReport } from "../problem-text.ts";
import { readSessionOptions, sessionOptions } from "../session/session-command.ts";

export const command = defineCommand({
  summary: "Watch a pack: validate it and reopen a session after changes of its code or definitions",
  usage: "[folder]",
  options: sessionOptions,
  async run(input) {
    const { positionals, options } = input;
    const style = options.json ? output.stderrStyle() : output.stdoutStyle();
    const say = options.json ? output.note : output.answer;
    const signal = await catchSignals(input);
    const watching = { ...readSessionOptions(input), strict: options.strict, signal, style };
    const result = await watchPack(positionals[0] ?? ".", watching, say);
    const { runs, ok } = result;
    const state = `The pack is ${ok ? "valid" : "invalid"}.`;
    return {
      json: result,
      formatText: () => `Stopped after ${countOf(runs, "validation")}. ${state}`,
      // They were reported while watching, and Ctrl-C is not a failure.
      problems: [],
      exitCode: 0,
    };
  },
});

/** Files that authors edit, and that servers rarely write. JSON counts where a definition may be, whatever the `root`. */
const isCode = (path: string): boolean =>
  /^(?:package\.json$|trailblaze[./])|\.(?:[cm]?[jt]sx?|ya?ml|md|py)$/i.test(path) ||
  /(?:^|\/)(?:servers|tools|toolsets|prompts|resources)(?:\/[^/]+)?\.json$/.test(path);

/**
 * Validates the pack in a folder now and after every change, and keeps a session open: a valid pack gets a new session with new
 * servers; while the pack is invalid, the last session stays open. `say` gets what happens, as text.
 *
 * Resolves when `signal` aborts and everything has ended. Rejects with a `TrailblazeError` if there is no project
 * (`ProjectNotFound`) or its folder cannot be watched.
 */
export async function watchPack(
  directory: string,
  {
    cwd = process.cwd(),
    strict,
    signal,
    style,
    ...options
  }: SessionOptions & { strict: boolean; signal: AbortSignal; style: TextStyle },
  say: (text: string) => void,
) {
  const { directory: root } = findProject(discoveryPort, resolve(cwd, directory));
  /** The last validation with its problems and those of its session, of which the advertised names of the tools are here, too. */
  const result = {
    runs: 0,
    /** Whether the last validation succeeded and a session was open. */
    ok: false,
    pack: null as string | null,
    tools: [] as string[],
    problems: [] as Problem[],
  };
  let session: Session | undefined;
  let sources: ReadonlySet<string> = new Set();
  const report = (problem: Problem, more = "") => {
    result.problems.push(problem);
    say(`\n${formatProblemText(problem, style)}${more}`);
  };
  const close = async () => {
    const closed = session;
    session = undefined;
    await closed?.close();
  };

  /** Closes the old session before it opens a new one, which may need the same resources. */
  const reopen = async (outdated: AbortSignal) => {
    const reported = new Set(result.problems.map(({ code, message }) => `${code} ${message}`));
    await close();
    // Until the session is open, its own list has the problems.
    const onProblem = (problem: Problem) => session && report(problem);
    session = await openSession({ ...options, cwd: root, signal: outdated, onProblem });
    result.tools = session.tools.map(({ name }) => name).sort();
    for (const problem of session.problems)
      if (!reported.has(`${problem.code} ${problem.message}`)) report(problem);
    const lines = result.tools.map((name) => `\n  ${printable(name)}`);
    say(
      `A session is open with ${countOf(lines.length, "tool")}${lines.length > 0 ? ":" : "."}${lines.join("")}`,
    );
  };

  const update = async (outdated: AbortSignal) => {
    result.runs++;
    try {
      const { report: validated, sources: files } = await validateTarget(root, { cwd: root, strict });
      sources = files;
      const { ok, pack, problems } = validated;
      Object.assign(result, { ok, pack, problems: [...problems] });
      say(`\n${formatReport(validated, style)}`);
      if (!hasErrors(problems)) await reopen(outdated);
    } catch (error) {
      if (outdated.aborted) return;
      if (!(error instanceof TrailblazeError)) throw error;
      result.ok = false;
      if (session === undefined) result.tools = [];
      report(error.problem, session === undefined ? "\nNo session is open." : "");
    }
  };

  // Also ends an opening that is in progress, which could take as long as its servers.
  let change = new AbortController();
  const watcher = watchFolder(root, (paths) => {
    // What servers write to their pack would restart them, endlessly.
    if (paths.some((path) => isCode(path) || sources.has(path))) change.abort();
  });
  say("Watching for changes. Press Ctrl-C to stop.");
  try {
    while (!signal.aborted) {
      change = new AbortController();
      const outdated = AbortSignal.any([signal, change.signal]);
      await update(outdated);
      if (!outdated.aborted) await once(outdated, "abort");
    }
  } finally {
    watcher.close();
    await close();
  }
  return result;
}
