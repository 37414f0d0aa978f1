import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { makeTree } from "./packs.ts";

/**
 * Where the policy of the machine is for a test file that replaces src/files/policy-location.ts:
 * `vi.mock("…/src/files/policy-location.ts", () => import("…/support/machine-policy.ts"))`. Without a policy until a test sets one.
 */
const location = {
  file: join(process.cwd(), "no-such-folder", "policy.json"),
  owner: process.getuid?.() ?? 0,
};
const absent = location.file;

export const findPolicyLocation = () => ({ ...location });

/** Gives the machine a policy for the running test. Returns its path. */
export function setPolicy(policy: unknown): string {
  location.file = join(makeTree({}), "trailblaze", "policy.json");
  mkdirSync(dirname(location.file));
  chmodSync(dirname(location.file), 0o755);
  writeFileSync(location.file, typeof policy === "string" ? policy : JSON.stringify(policy));
  chmodSync(location.file, 0o644);
  onTestFinished(() => {
    location.file = absent;
  });
  return location.file;
}
