import gte from "semver/functions/gte.js";
import type { NpmConfiguration } from "../../files/npm-configuration.ts";

const dayMs = 86_400_000;

/** Matches a pattern of `min-release-age-exclude`: `*` matches any characters except a slash, `**` matches any. */
function matches(pattern: string, name: string): boolean {
  const source = pattern
    .trim()
    .replace(/[.+^${}()|[\]\\?]/g, "\\$&")
    .replace(/\*+/g, (stars) => (stars.length > 1 ? ".*" : "[^/]*"));
  return new RegExp(`^${source}$`).test(name);
}

/** Whether an npm version has a feature that was added in `first`. True if the version is unknown. */
const isSince = (version: string | undefined, first: string) => version === undefined || gte(version, first);

/**
 * The latest publication time that npm allows for a package, according to `before` and `min-release-age`, in milliseconds
 * since 1970; `undefined` if there is no limit. Ignores keys that this npm version does not support.
 */
export function findNewestAllowed(
  configuration: NpmConfiguration,
  name: string,
  { now, npmVersion }: { now: number; npmVersion: string | undefined },
): number | undefined {
  const excluded = [configuration.get("min-release-age-exclude") ?? []].flat();
  if (isSince(npmVersion, "11.17.0") && excluded.some((pattern) => matches(pattern, name))) return undefined;
  const before = Date.parse(String(configuration.get("before")));
  if (Number.isFinite(before)) return before;
  if (!isSince(npmVersion, "11.10.0")) return undefined;
  const days = Number(configuration.get("min-release-age"));
  return days > 0 ? now - days * dayMs : undefined;
}
