import { onTestFinished } from "vitest";
import { openSessionByRules } from "../../../src/session/open-session.ts";
import type { SessionChange } from "../../../src/session/session-frame.ts";
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

/** Opens a session that follows its project, with a clock that the test advances; it is closed after the test. */
export async function openFollowed(
  cwd: string,
  options: SessionOptions = {},
  { served = true }: { served?: boolean } = {},
): Promise<Followed> {
  const clock = createManualClock();
  const changes: SessionChange[] = [];
  const reported: Problem[] = [];
  const session = await openSessionByRules(
    {
      cwd,
      watch: true,
      onChange: (change) => changes.push(change),
      onProblem: (problem) => reported.push(problem),
      ...options,
    },
    { userServers: "needed", served },
  );
  onTestFinished(() => session.close());
  const isNoticed = () => clock.delays.includes(quietMs);
  return {
    session,
    clock,
    changes,
    reported,
    names: () => session.tools.map(({ name }) => name),
    async change(make) {
      make();
      await waitUntil(isNoticed);
      clock.advance(quietMs);
    },
  };
}
