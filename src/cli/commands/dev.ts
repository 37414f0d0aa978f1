import { once } from "node:events";
import { resolve } from "node:path";
import { findProject } from "../../discovery/project.ts";
import { createNodeDiscoveryPort } from "../../files/node-discovery-port.ts";
import { hasErrors, type Problem, printable, TrailblazeError } from "../../problems/index.ts";
import { countOf } from "../../problems/text.ts";
import { watchFolder } from "../../processes/folder-watcher.ts";
import type { Session } from "../../session/session.ts";
import type { SessionOptions } from "../../session/session-options.ts";
import { openSession } from "../../session.ts";
import { validateTarget } from "../../validate/validate-target.ts";
import { defineCommand, type TextStyle } from "../command.ts";
import { exitCodeOfProblems } from "../exit-code.ts";
import { withSignals } from "../interruption.ts";
import { flag } from "../options.ts";
import { output } from "../output.ts";
import { formatProblemText } from "../problem-text.ts";
import { formatPretty } from "../report-formats.ts";
import { readSessionOptions, sessionOptions } from "../session/session-command.ts";

export const command = defineCommand({
  summary: "Watch a pack: validate it and reopen a session on every change",
  usage: "[folder]",
  options: {
    once: flag("Validate and open a session once, then exit"),
    ...sessionOptions,
  },
  async run(input) {
    const { positionals, options } = input;
    const isOnce = options.once;
    const style = options.json ? output.stderrStyle() : output.stdoutStyle();
    const say = options.json ? output.note : output.answer;
    let isFirst = true;
    const result = await withSignals((signal) =>
      watchPack(
        positionals[0] ?? ".",
        { ...readSessionOptions(input), strict: options.strict, once: isOnce, signal },
        (format) => {
          say(format(style));
          if (isFirst && !isOnce) output.note("Watching for changes. Press Ctrl-C to stop.");
          isFirst = false;
        },
      ),
    );
    const { runs, ok, problems } = result;
    const state = `The pack is ${ok ? "valid" : "invalid"}.`;
    return {
      json: result,
      formatText: isOnce ? undefined : () => `Stopped after ${countOf(runs, "validation")}. ${state}`,
      // The problems were reported while watching, and Ctrl-C is not a failure.
      exitCode: isOnce ? exitCodeOfProblems(problems, options.strict) || (ok ? 0 : 1) : 0,
    };
  },
});

/** How long servers may write after a session was opened. Milliseconds. */
const settlingMs = 500;

/** Files that authors edit, and that servers rarely write. */
const isCode = (path: string): boolean => /^trailblaze[./]|\.(?:[cm]?[jt]sx?|ya?ml|md)$/i.test(path);

/** The state at the end. */
interface WatchResult {
  /** The number of validations. */
  runs: number;
  /** Whether the last validation succeeded and a session was open. */
  ok: boolean;
  pack: string | null;
  /** Advertised names of the last session, sorted. */
  tools: string[];
  /** Problems of the last validation and of its session. */
  problems: Problem[];
}

interface WatchOptions extends SessionOptions {
  strict?: boolean;
  /** Validates once, opens one session, and ends. */
  once?: boolean;
  /** Milliseconds without a change before the changes count. Default: 100. */
  quietMs?: number;
}

/**
 * Validates the pack in a folder now and after every change, and keeps a session open: a valid pack gets a new session with new
 * servers; while the pack is invalid, the last session stays open. `say` gets what happens, as text.
 *
 * Resolves when `signal` aborts and everything has ended. Rejects with a `TrailblazeError` if the pack is not found
 * (`ProjectNotFound`) or its folder cannot be watched.
 */
export async function watchPack(
  directory: string,
  { cwd = process.cwd(), strict, once: isOnce = false, quietMs, signal, ...options }: WatchOptions,
  say: (format: (style: TextStyle) => string) => void,
): Promise<WatchResult> {
  const { directory: root } = findProject(createNodeDiscoveryPort(), resolve(cwd, directory));
  const result: WatchResult = { runs: 0, ok: false, pack: null, tools: [], problems: [] };
  let session: Session | undefined;
  let sources: ReadonlySet<string> = new Set();
  // While servers start and shortly after, what they write to their pack would restart them, endlessly.
  let busyUntil = 0;
  const report = (problem: Problem, more = "") => {
    result.problems.push(problem);
    say((style) => `\n${formatProblemText(problem, style)}${more}`);
  };
  const close = async () => {
    const closed = session;
    session = undefined;
    await closed?.close();
  };

  /** Closes the old session before it opens a new one, which may need the same resources. */
  const reopen = async (outdated: AbortSignal) => {
    const before = result.tools;
    const reported = new Set(result.problems.map(({ code, message }) => `${code} ${message}`));
    await close();
    // Until the session is open, its own list has the problems.
    const onProblem = (problem: Problem) => session && report(problem);
    session = await openSession({ ...options, cwd: root, signal: outdated, onProblem });
    const tools = session.tools.map(({ name }) => name).sort();
    const problems = session.problems.filter(({ code, message }) => !reported.has(`${code} ${message}`));
    const changes = [
      ...tools.filter((name) => !before.includes(name)).map((name) => `+ ${name}`),
      ...before.filter((name) => !tools.includes(name)).map((name) => `- ${name}`),
    ];
    const lines = before.length > 0 && changes.length > 0 ? changes : tools;
    result.tools = tools;
    result.problems.push(...problems);
    say((style) =>
      [
        ...problems.map((problem) => `${formatProblemText(problem, style)}\n`),
        `A session is open with ${countOf(tools.length, "tool")}${lines.length > 0 ? ":" : "."}`,
        ...lines.map((line) => `  ${printable(line)}`),
      ].join("\n"),
    );
  };

  const update = async (outdated: AbortSignal) => {
    const isFirst = ++result.runs === 1;
    let isValidated = false;
    try {
      const { report: validated, sources: files } = await validateTarget(root, { cwd: root, strict });
      isValidated = true;
      sources = files;
      const { ok, pack, problems } = validated;
      Object.assign(result, { ok, pack, problems: [...problems] });
      say((style) => `${isFirst ? "" : "\n"}${formatPretty(validated, style)}`);
      if (hasErrors(problems)) return;
      busyUntil = Number.POSITIVE_INFINITY;
      await reopen(outdated);
    } catch (error) {
      if (outdated.aborted) return;
      if (!(error instanceof TrailblazeError) || (!isValidated && (isFirst || isOnce))) throw error;
      result.ok = false;
      if (session === undefined) result.tools = [];
      report(error.problem, session === undefined ? "\nNo session is open." : "");
    } finally {
      if (busyUntil > 0) busyUntil = performance.now() + settlingMs;
    }
  };

  // Also ends an opening that is in progress, which could take as long as its servers.
  let change = new AbortController();
  const onChange = (paths: readonly string[]) => {
    if (performance.now() > busyUntil || paths.some((path) => isCode(path) || sources.has(path)))
      change.abort();
  };
  const watcher = isOnce ? undefined : watchFolder(root, { quietMs }, onChange);
  const ending = signal ?? new AbortController().signal;
  try {
    while (!ending.aborted) {
      change = new AbortController();
      const outdated = AbortSignal.any([ending, change.signal]);
      await update(outdated);
      if (isOnce) break;
      if (!outdated.aborted) await once(outdated, "abort");
    }
  } finally {
    watcher?.close();
    await close();
  }
  return result;
}
