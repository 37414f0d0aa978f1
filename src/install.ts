export { type ListedClient, listClients } from "./install/clients/locations.ts";
export type { InstallOptions, InstallPlan, InstallResult } from "./install/plan-install.ts";
export { applyPlan, planInstall, planUninstall } from "./install/plan-install.ts";
export { type Problem, TrailblazeError } from "./problems/index.ts";
