import gte from "semver/functions/gte.js";
import type { NpmConfiguration } from "../../files/npm-configuration.ts";

const dayMs = 86_400_000;

/** A pattern of `min-release-age-exclude`, where `*` is any part of a name and `**` also the slash of a scope. */
function matches(pattern: string, name: string): boolean {
  const source = pattern
    .trim()
    .replace(/[.+^${}()|[\]\\?]/g, "\\$&")
    .replace(/\*+/g, (stars) => (stars.length > 1 ? ".*" : "[^/]*"));
  return new RegExp(`^${source}$`).test(name);
}

/** Whether an npm, if its version is known, has what came with another version. */
const isSince = (version: string | undefined, first: string) => version === undefined || gte(version, first);

/**
 * Up to when a version of a package must have been published for npm to take it, by `before` and `min-release-age` of its
 * configuration, in milliseconds since 1970; `undefined` where any age will do. An older npm passes over what it does not
 * know.
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
