import { normalizeDefinition } from "../extension-schema/normalize-definition.ts";
import type { BuiltInDefinition } from "./session-config.ts";

/** Normalizes valid tools like packs' definitions. */
export function readBuiltIns(list: readonly Record<string, unknown>[]): BuiltInDefinition[] {
  return list.map((definition) => normalizeDefinition("tool", definition));
}
