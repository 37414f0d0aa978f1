import satisfies from "semver/functions/satisfies.js";
import maxSatisfying from "semver/ranges/max-satisfying.js";
import { isRecord } from "../../data/parse-json.ts";
import { isOldEnough } from "./publish-times.ts";
import { findVersion } from "./remote-pack.ts";

/** What a package manager considers when it selects a version. */
export interface VersionLimits {
  /** The latest publication time in milliseconds since 1970; `undefined` if there is no limit. */
  newestAllowed: number | undefined;
  /** Whether versions that support this Node.js take precedence over all others. */
  prefersEngines: boolean;
}

/** Whether a manifest supports this Node.js according to its `engines`. Pure. */
export function supportsEngine(manifest: unknown): boolean {
  const engines = isRecord(manifest) && isRecord(manifest.engines) ? manifest.engines : {};
  const { node } = engines;
  return typeof node !== "string" || satisfies(process.version, node, { includePrerelease: true });
}

/**
 * The version that package managers would select: the one tagged as latest if it is in the range, otherwise the highest.
 * Considers only versions that are old enough.
 */
export function pickVersion(
  packument: unknown,
  range: string,
  { newestAllowed, prefersEngines }: VersionLimits,
): unknown {
  const isAllowed = (one: string) => isOldEnough(packument, one, newestAllowed);
  const isPreferred = (manifest: unknown) => !prefersEngines || supportsEngine(manifest);
  const latest = findVersion(packument, "latest");
  const version = isRecord(latest) ? latest.version : undefined;
  const isInRange = typeof version === "string" && satisfies(version, range, { loose: true });
  if (isInRange && isAllowed(version) && isPreferred(latest)) return latest;
  const versions = isRecord(packument) && isRecord(packument.versions) ? packument.versions : {};
  const isCurrent = (one: string) => !(isRecord(versions[one]) && versions[one].deprecated);
  const names = Object.keys(versions).filter(isAllowed);
  const preferred = names.filter((one) => isPreferred(versions[one]));
  const choices = [preferred.filter(isCurrent), preferred, names.filter(isCurrent), names];
  const best = choices.map((some) => maxSatisfying(some, range, { loose: true })).find((one) => one !== null);
  return best === undefined ? undefined : findVersion(packument, String(best));
}

/** The version with a tag or version number. If a tagged version is too new, the highest one below it. */
export function pickTagged(packument: unknown, wanted: string, limits: VersionLimits): unknown {
  const tagged = findVersion(packument, wanted);
  const version = isRecord(tagged) ? tagged.version : undefined;
  if (
    typeof version !== "string" ||
    version === wanted ||
    isOldEnough(packument, version, limits.newestAllowed)
  )
    return tagged;
  return pickVersion(packument, `<=${version}`, limits);
}
