import type { NpmConfiguration } from "./npm-configuration.ts";

const dayMs = 86_400_000;

/** A pattern of `min-release-age-exclude`, where `*` is any part of a name and `**` also the slash of a scope. */
function matches(pattern: string, name: string): boolean {
  const source = pattern
    .trim()
    .replace(/[.+^${}()|[\]\\?]/g, "\\$&")
    .replace(/\*+/g, (stars) => (stars.length > 1 ? ".*" : "[^/]*"));
  return new RegExp(`^${source}$`).test(name);
}

/**
 * Up to when a version of a package must have been published for npm to take it, by `before` and `min-release-age` of its
 * configuration, in milliseconds since 1970; `undefined` where any age will do.
 */
export function findNewestAllowed(
  configuration: NpmConfiguration,
  name: string,
  now: number,
): number | undefined {
  const excluded = [configuration.get("min-release-age-exclude") ?? []].flat();
  if (excluded.some((pattern) => matches(pattern, name))) return undefined;
  const before = Date.parse(String(configuration.get("before")));
  if (Number.isFinite(before)) return before;
  const days = Number(configuration.get("min-release-age"));
  return days > 0 ? now - days * dayMs : undefined;
}
