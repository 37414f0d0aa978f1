import { onTestFinished } from "vitest";
import { openSessionByRules } from "../../../src/session/open-session.ts";
import type { SessionChange } from "../../../src/session/session-frame.ts";
import type { CommandSessionOptions } from "../../../src/session/session-options.ts";
import type { Problem, Session, SessionOptions } from "../../../src/session.ts";
import { waitUntil } from "../../support/wait-until.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";

/** How long changes must be silent before they count. Milliseconds. */
const quietMs = 500;

export interface Followed {
  session: Session;
  clock: ManualClock;
  changes: SessionChange[];
  reported: Problem[];
  names(): string[];
  /** Makes a change, waits until the session has noticed it, and lets it count. */
  change(make: () => void): Promise<void>;
}

/** Opens a session with a clock that the test advances; it is closed after the test. */
export function openWithClock(cwd: string, options: CommandSessionOptions, served: boolean) {
  const clock = createManualClock();
  const changes: SessionChange[] = [];
  const reported: Problem[] = [];
  const onChange = (change: SessionChange) => changes.push(change);
  const onProblem = (problem: Problem) => reported.push(problem);
  const given = { cwd, onChange, onProblem, ...options };
  const opening = openSessionByRules(given, { mode: served ? "served" : "host" });
  onTestFinished(async () => (await opening).close());
  return { clock, changes, reported, opening };
}

/** The same of a session that follows its project. */
export async function openFollowed(
  cwd: string,
  options: SessionOptions = {},
  { served = true }: { served?: boolean } = {},
): Promise<Followed> {
  const { opening, clock, ...noted } = openWithClock(cwd, { watch: true, ...options }, served);
  const session = await opening;
  const isNoticed = () => clock.delays.includes(quietMs);
  return {
    session,
    clock,
    ...noted,
    names: () => session.tools.map(({ name }) => name),
    async change(make) {
      make();
      await waitUntil(isNoticed);
      clock.advance(quietMs);
    },
  };
}
