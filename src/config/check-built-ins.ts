import { type Problem, TrailblazeError } from "../problems/index.ts";
import type { Registry } from "../qualified-names/create-registry.ts";
import { findBuiltInFaults, readBuiltIns } from "./built-ins.ts";
import { configFailure, describeConfigFaults } from "./config-file.ts";
import type { BuiltInDefinition, SessionConfig } from "./session-config.ts";

/** Checks and normalizes the built-ins that a caller defines. Throws `TrailblazeError` `InvalidConfig` for the first fault. */
export async function checkBuiltIns(definitions: readonly BuiltInDefinition[]): Promise<BuiltInDefinition[]> {
  const faults = [...findBuiltInFaults(definitions, { mayBeFunction: true })];
  const [first, ...others] = await describeConfigFaults(faults, undefined);
  if (first !== undefined) throw configFailure([first, ...others]);
  return readBuiltIns(definitions);
}

/** Finds options of unknown tools. They have no effect, so they are warnings. */
export function findStrayOptions({ options }: SessionConfig, registry: Registry): Problem[] {
  return [...options.keys()].flatMap((name) => {
    try {
      registry.resolve(name, { from: "user", kind: "tool" });
      return [];
    } catch (error) {
      if (!(error instanceof TrailblazeError)) throw error;
      const path = ["options", name];
      return [{ ...error.problem, severity: "warning" as const, path }];
    }
  });
}
