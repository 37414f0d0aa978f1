import { isRecord } from "../data/parse-json.ts";
import { findMetaProblems, type MetaKey } from "../extension-schema/meta-schema.ts";
import type { Problem } from "../problems/index.ts";
import { isForAppsAlone } from "./apps.ts";

/** The `_meta["trailblaze/…"]` keys of a tool, with defaults. */
export interface ToolMeta {
  isForLlm: boolean;
  isRecordable: boolean;
  requiresHost: boolean;
  /** Empty for all. */
  supportedDrivers: readonly string[];
  /** In upper case. Empty for all. */
  supportedPlatforms: readonly string[];
  toolset: string | undefined;
  requiresContext: boolean;
}

/** Reads a tool's metadata. A value of the wrong type is a problem and counts as absent; an unknown key is a problem. */
export function readToolMeta(meta: unknown): { meta: ToolMeta; problems: Problem[] } {
  const problems = findMetaProblems(meta);
  const values = isRecord(meta) ? meta : {};
  const read = <Value>(key: MetaKey, absent: Value) =>
    ((problems.has(key) ? undefined : values[key]) ?? absent) as Value;
  const platforms = read<readonly string[]>("trailblaze/supportedPlatforms", []);
  return {
    meta: {
      isForLlm: !isForAppsAlone(meta) && read("trailblaze/isForLlm", read("trailblaze/surfaceToLlm", true)),
      isRecordable: read("trailblaze/isRecordable", true),
      requiresHost: read("trailblaze/requiresHost", false),
      supportedDrivers: read<readonly string[]>("trailblaze/supportedDrivers", []),
      supportedPlatforms: platforms.map((platform) => platform.toUpperCase()),
      toolset: read<string | undefined>("trailblaze/toolset", undefined),
      requiresContext: read("trailblaze/requiresContext", false),
    },
    problems: [...problems.values()],
  };
}
