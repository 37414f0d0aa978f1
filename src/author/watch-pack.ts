import { resolve } from "node:path";
import { findProject } from "../discovery/project.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { hasErrors, type Problem } from "../problems/index.ts";
import { watchFolder } from "../processes/folder-watcher.ts";
import type { SessionOptions } from "../session/session-options.ts";
import { openSession } from "../session.ts";
import { validateExtensionInDetail } from "../validate/validate-extension.ts";
import type { DetailedReport } from "../validate/validate-with.ts";
import { type DevEvent, develop } from "./dev/develop.ts";

/** What happens while a pack is watched, in order. */
export type WatchEvent = DevEvent<DetailedReport>;

export interface WatchPackOptions extends SessionOptions {
  strict?: boolean;
  /** Do everything once, and end. */
  once?: boolean;
  /** Milliseconds without a change before the changes count; default 100. */
  quietMs?: number;
  onEvent?: (event: WatchEvent) => void;
}

/** How things stood at the end. */
export interface WatchResult {
  /** How often it was validated. */
  runs: number;
  /** Whether the last validation found it right, and a session was open over it. */
  ok: boolean;
  pack: string | null;
  /** Advertised names of the last session, sorted. */
  tools: string[];
  /** Of the last validation, and of the session that came of it. */
  problems: Problem[];
}

const describe = ({ code, message, file, line }: Problem): string =>
  JSON.stringify([code, message, file, line]);

/** Problems of a session that validation has not told already. */
export function newProblems(told: readonly Problem[], problems: readonly Problem[]): Problem[] {
  const known = new Set(told.map(describe));
  return problems.filter((problem) => !known.has(describe(problem)));
}

/**
 * Watches the pack in a folder: validates it on every change, and keeps a session open over it while it is valid.
 *
 * Trust level: execution, as a session's. Resolves when `signal` aborts, with nothing left running. Rejects with a
 * `TrailblazeError` where there is no pack to begin with (`ProjectNotFound`), or its folder cannot be watched.
 */
export async function watchPack(directory: string, options: WatchPackOptions = {}): Promise<WatchResult> {
  const { cwd = process.cwd(), strict = false, once = false, quietMs, onEvent, signal, ...rest } = options;
  const folder = resolve(cwd, directory);
  const { directory: root } = findProject(createNodeDiscoveryPort(), folder);
  const result: WatchResult = { runs: 0, ok: false, pack: null, tools: [], problems: [] };
  const note = (event: WatchEvent): void => {
    if (event.type === "validated") {
      const { ok, pack, problems } = event.report.report;
      Object.assign(result, { runs: event.run, ok, pack, problems: [...problems] });
    } else if (event.type === "failed") {
      Object.assign(result, { runs: event.run, ok: false, problems: [event.problem] });
    } else if (event.type === "opened") {
      result.tools = event.tools;
      result.problems.push(...newProblems(result.problems, event.problems));
    } else if (event.type === "reported") {
      result.problems.push(event.problem);
    } else if (event.type === "notOpened") {
      result.ok = false;
      result.tools = [];
      result.problems.push(event.problem);
    }
    onEvent?.(event);
  };
  await develop(
    {
      validate: () => validateExtensionInDetail(root, { cwd: root, strict }),
      isUsable: ({ report }) => !hasErrors(report.problems),
      isSource: ({ texts }, path) => texts.has(path),
      openSession: (aborting, onProblem) => {
        const tell = (problem: Problem) => {
          rest.onProblem?.(problem);
          onProblem(problem);
        };
        return openSession({ ...rest, cwd: root, signal: aborting, onProblem: tell });
      },
      watch: once
        ? undefined
        : (onChange) => watchFolder(root, quietMs === undefined ? {} : { quietMs }, onChange),
      onEvent: note,
      now: () => performance.now(),
    },
    signal ?? new AbortController().signal,
  );
  return result;
}
