import { applyPlan as apply, type InstallPlan, type InstallResult } from "./install/plan-install.ts";

export { type ListedClient, listClients } from "./install/clients/locations.ts";
export type { InstallOptions, InstallPlan, InstallResult } from "./install/plan-install.ts";
export { planInstall, planUninstall } from "./install/plan-install.ts";
export { type Problem, TrailblazeError } from "./problems/index.ts";

/**
 * Applies a plan to the current file: if it changed since the plan, the edit is decided again.
 *
 * Trust level: execution. Writes the client's file, and a backup in the user's state folder. Throws
 * `TrailblazeError` and leaves the file unchanged: as `planInstall`, and `ClientConfigUnwritable`.
 */
export async function applyPlan(plan: InstallPlan): Promise<InstallResult> {
  return apply(plan);
}
