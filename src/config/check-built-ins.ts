import { readBuiltIns } from "./built-ins.ts";
import { configFailure, describeConfigFaults } from "./config-file.ts";
import type { BuiltInDefinition } from "./session-config.ts";

/** Checks and normalizes the built-ins that a caller defines. Throws `TrailblazeError` `InvalidConfig` for the first error. */
export async function checkBuiltIns(definitions: readonly BuiltInDefinition[]): Promise<BuiltInDefinition[]> {
  if (definitions.length === 0) return [];
  const { findBuiltInFaults } = await import("./built-in-faults.ts");
  const faults = [...findBuiltInFaults(definitions, { mayBeFunction: true })];
  const [first, ...others] = await describeConfigFaults(faults, undefined);
  if (first !== undefined) throw configFailure([first, ...others]);
  return readBuiltIns(definitions);
}
