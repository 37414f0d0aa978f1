// Applies a plan in a process of its own. Usage: install-host PLAN-FILE
import { readFileSync } from "node:fs";
import { applyPlan } from "../../src/install/plan-install.ts";

await applyPlan(JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")));
