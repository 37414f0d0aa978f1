import { applyPlan as apply } from "./install/apply-plan.ts";
import type { InstallPlan, InstallResult } from "./install/plan.ts";

export type { InstallOptions } from "./install/install-request.ts";
export { type ListedClient, listClients } from "./install/list-clients.ts";
export type { InstallPlan, InstallResult } from "./install/plan.ts";
export { planInstall, planUninstall } from "./install/plan-install.ts";
export { type Problem, TrailblazeError } from "./problems/index.ts";

export interface ApplyOptions {
  /** Is called once if the edit has to wait, with what it waits for: "process 123, which holds the lock …". */
  onWait?: ((what: string) => void) | undefined;
}

/**
 * Does what a plan says, on the file as it is now: if it changed since, the edit is made anew.
 *
 * Trust level: execution. Writes the client's file, a copy of it as it was, and a ledger, both in the user's state
 * folder. Throws `TrailblazeError` with the file as it was: as `planInstall`, and `ClientConfigUnwritable`.
 */
export async function applyPlan(plan: InstallPlan, { onWait }: ApplyOptions = {}): Promise<InstallResult> {
  return apply(plan, { onWait });
}
