// Installs or uninstalls in a process of its own, which tests let work beside others and end at any step.
// Usage: install-host ROOT ACTION KEY [STEP@FILE-ENDING]
import { join } from "node:path";
import { applyPlanWith } from "../../src/install/apply-plan-with.ts";
import type { InstallMeans } from "../../src/install/install-means.ts";

import { planInstallWith, planUninstallWith } from "../../src/install/plan-install-with.ts";

const [root = "", action, name = "", deathAt = ""] = process.argv.slice(2);
const [step, ending = ""] = deathAt.split("@");
const home = join(root, "home");
const project = join(root, "project");

const means: InstallMeans = {
  surroundings: { platform: "linux", environment: { HOME: home }, home },
  resolveServer: async () => ({ name: "mine", envPassthrough: [], transport: "stdio", project }),
  node: "/opt/node",
  findScript: () => "/opt/cli.cjs",
  hasOwnCopy: () => true,
  stateFolder: join(root, "state/trailblaze"),
  waitMs: 60_000,
  onStep(reached, file) {
    if (reached === step && file.endsWith(ending)) process.kill(process.pid, "SIGKILL");
  },
};
const plan = action === "uninstall" ? planUninstallWith : planInstallWith;
await applyPlanWith(means, await plan(means, "cursor", "mine", { cwd: project, name }));
