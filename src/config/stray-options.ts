import { type Problem, TrailblazeError } from "../problems/index.ts";
import type { Registry } from "../qualified-names/create-registry.ts";
import type { SessionConfig } from "./session-config.ts";

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
