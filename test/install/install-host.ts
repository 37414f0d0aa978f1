// Applies a plan in a process of its own, which tests let work beside others and end at any step.
// Usage: install-host PLAN-FILE [STEP@FILE-ENDING]
import { readFileSync } from "node:fs";
import { applyPlan } from "../../src/install/apply-plan.ts";

const [planFile = "", deathAt = ""] = process.argv.slice(2);
const [step, ending = ""] = deathAt.split("@");

await applyPlan(JSON.parse(readFileSync(planFile, "utf8")), {
  waitMs: 60_000,
  onStep(reached, file) {
    if (reached === step && file.endsWith(ending)) process.kill(process.pid, "SIGKILL");
  },
});
