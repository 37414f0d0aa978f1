import { diffLock } from "../approval/diff-lock.ts";
import type { SessionConfig } from "../config/session-config.ts";
import { lockFileOf, readLock } from "../lock/lock-file.ts";
import { lockModeOf } from "../lock/open-gate.ts";
import { createProblem, type Problem, TrailblazeError } from "../problems/index.ts";
import type { SessionOptions } from "../session/session-options.ts";
import type { HealthCheck } from "./check-health.ts";

/** Checks trailblaze.lock without starting anything. `problem`: why no session opens. */
export async function checkLock(
  config: SessionConfig,
  options: SessionOptions,
): Promise<{ check: HealthCheck; problem?: Problem }> {
  const mode = lockModeOf(config, options.lock);
  const describe = (ok: boolean, summary: string): HealthCheck => ({ name: "lock", ok, summary });
  if (mode === "off") return { check: describe(true, "not used") };
  const file = lockFileOf(config.project);
  try {
    if ((await readLock(config.project)) === undefined) {
      if (mode !== "frozen")
        return { check: describe(true, "none, so everything that is installed is used") };
      const problem = createProblem("LockMissing", { file }, { file });
      return { check: describe(false, problem.message), problem };
    }
    const { cwd, config: given } = options;
    const { inSync, packs, servers } = await diffLock({ cwd, config: given, static: true });
    if (inSync) return { check: describe(true, "approves what is installed") };
    const differing = [...packs, ...servers].filter(({ change }) => change !== "same");
    const names = differing.map(({ name }) => name).join(", ");
    const summary = `differs from what is installed: ${names}; run \`trailblaze diff\``;
    return { check: describe(mode !== "frozen", summary) };
  } catch (error) {
    if (!(error instanceof TrailblazeError)) throw error;
    return { check: describe(false, error.message), problem: error.problem };
  }
}
