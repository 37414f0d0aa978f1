import { join } from "node:path";
import { applyPlanWith } from "../../src/install/apply-plan-with.ts";
import type { InstallMeans } from "../../src/install/install-means.ts";
import type { InstallOptions, ResolvedServer } from "../../src/install/install-request.ts";
import { listClientsWith } from "../../src/install/list-clients-with.ts";
import { planInstallWith, planUninstallWith } from "../../src/install/plan-install-with.ts";
import { failure } from "../../src/problems/index.ts";
import { makeTree } from "../support/packs.ts";
import type { Tree } from "../support/tree.ts";

export const node = "/opt/node/bin/node";
export const script = "/opt/trailblaze/dist/cli/cli.cjs";

/** The servers that there are in a place, by reference. */
const servers: Readonly<Record<string, Partial<ResolvedServer>>> = {
  "acme/jira/project-management": { name: "project-management" },
  "acme/notes/project-management": { name: "project-management" },
  "acme/jira/named": { name: "named", mcpServerName: "Acme Jira" },
  "acme/jira/secretive": { name: "secretive", envPassthrough: ["JIRA_TOKEN"] },
  "acme/jira/program": {
    name: "program",
    envPassthrough: ["JIRA_TOKEN"],
    reachedBy: ["PATH", "JIRA_TOKEN"],
  },
  "weather/over-http": { name: "over-http", transport: "http" },
  mine: { name: "mine" },
};

/** A home and a project in a temporary folder, and what installs into clients there. */
export function makeInstallPlace(tree: Tree = {}, changes: Partial<InstallMeans> = {}) {
  const root = makeTree({ "home/.keep": "", "project/package.json": { name: "app" }, ...tree });
  const [home, project] = [join(root, "home"), join(root, "project")];
  const means: InstallMeans = {
    surroundings: { platform: "linux", environment: { HOME: home }, home },
    async resolveServer(reference) {
      const found = Object.hasOwn(servers, reference) ? servers[reference] : undefined;
      if (found === undefined)
        throw failure("ServerNotFound", { name: reference, otherKind: undefined, nearest: [] });
      return { name: reference, envPassthrough: [], transport: "stdio", project, ...found };
    },
    node,
    findScript: () => script,
    hasOwnCopy: () => true,
    stateFolder: join(root, "state/trailblaze"),
    ...changes,
  };
  const withCwd = (options: InstallOptions) => ({ cwd: project, ...options });
  const planInstall = (client: string, server: string, options: InstallOptions = {}) =>
    planInstallWith(means, client, server, withCwd(options));
  const planUninstall = (client: string, server: string, options: InstallOptions = {}) =>
    planUninstallWith(means, client, server, withCwd(options));
  return {
    root,
    home,
    project,
    means,
    planInstall,
    planUninstall,
    install: async (...args: Parameters<typeof planInstall>) =>
      applyPlanWith(means, await planInstall(...args)),
    uninstall: async (...args: Parameters<typeof planUninstall>) =>
      applyPlanWith(means, await planUninstall(...args)),
    clients: () => listClientsWith(means, { cwd: project }),
  };
}
