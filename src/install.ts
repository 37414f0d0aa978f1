import { applyPlanWith } from "./install/apply-plan-with.ts";
import { createInstallMeans } from "./install/install-means.ts";
import type { InstallOptions } from "./install/install-request.ts";
import { type ListedClient, listClientsWith } from "./install/list-clients-with.ts";
import type { InstallPlan, InstallResult } from "./install/plan.ts";
import { planInstallWith, planUninstallWith } from "./install/plan-install-with.ts";

export type { InstallOptions } from "./install/install-request.ts";
export type { ListedClient } from "./install/list-clients-with.ts";
export type { InstallPlan, InstallResult } from "./install/plan.ts";
export { type Problem, TrailblazeError } from "./problems/index.ts";

/**
 * What installing a server into an MCP client's config would change. Writes nothing; every reference of the server is
 * checked, for which definitions are read as inspection does.
 *
 * Throws `TrailblazeError`: `UnknownClient`, `UnknownInstallLocation`, `NoProjectScope`, `ClientConfigMalformed`,
 * `ClientConfigConflict`, `ClientConfigModified`, `InvalidArguments`, and what finding the server can lead to.
 */
export async function planInstall(
  client: string,
  server: string,
  options: InstallOptions = {},
): Promise<InstallPlan> {
  return planInstallWith(createInstallMeans(), client, server, options);
}

/**
 * What uninstalling a server from an MCP client's config would change; nothing, where it is not there. The server need
 * not be installed any more. Writes nothing. Throws as `planInstall`, but for what concerns the server.
 */
export async function planUninstall(
  client: string,
  server: string,
  options: InstallOptions = {},
): Promise<InstallPlan> {
  return planUninstallWith(createInstallMeans(), client, server, options);
}

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
  return applyPlanWith({ ...createInstallMeans(), onWait }, plan);
}

/** Every client that is known, with its files, and whether it is here. Reads no config. */
export async function listClients(options: { cwd?: string } = {}): Promise<{ clients: ListedClient[] }> {
  return { clients: listClientsWith(createInstallMeans(), options) };
}
