import { isRecord } from "../data/parse-json.ts";
import {
  findMetaFault,
  isMetaKey,
  type MetaKey,
  metaKeys,
  metaPrefix,
  qualifiedNameKey,
} from "../extension-schema/meta-keys.ts";
import { createProblem, type Problem } from "../problems/index.ts";

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
  const values = new Map<MetaKey, unknown>();
  const problems: Problem[] = [];
  for (const [key, value] of isRecord(meta) ? Object.entries(meta) : []) {
    if (!key.startsWith(metaPrefix) || key === qualifiedNameKey) continue;
    const path = ["_meta", key];
    if (!isMetaKey(key)) {
      const known = Object.keys(metaKeys);
      problems.push(createProblem("UnknownMetaKey", { key, suggestion: undefined, known }, { path }));
      continue;
    }
    const fault = findMetaFault(key, value);
    if (fault === undefined) values.set(key, value);
    else problems.push(createProblem("InvalidMetaValue", { key, ...fault }, { path }));
  }
  const read = <Value>(key: MetaKey, absent: Value) => (values.get(key) ?? absent) as Value;
  const platforms = read<readonly string[]>("trailblaze/supportedPlatforms", []);
  return {
    meta: {
      isForLlm: read("trailblaze/isForLlm", read("trailblaze/surfaceToLlm", true)),
      isRecordable: read("trailblaze/isRecordable", true),
      requiresHost: read("trailblaze/requiresHost", false),
      supportedDrivers: read<readonly string[]>("trailblaze/supportedDrivers", []),
      supportedPlatforms: platforms.map((platform) => platform.toUpperCase()),
      toolset: read<string | undefined>("trailblaze/toolset", undefined),
      requiresContext: read("trailblaze/requiresContext", false),
    },
    problems,
  };
}
