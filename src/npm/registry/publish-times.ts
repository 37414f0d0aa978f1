import { isRecord } from "../../data/parse-json.ts";

/**
 * The publication time of a version in ISO 8601; `undefined` if the registry's value is missing or not valid. Pure.
 */
export function findPublished(packument: unknown, version: string): string | undefined {
  const times = isRecord(packument) ? packument.time : undefined;
  const time = isRecord(times) && Object.hasOwn(times, version) ? times[version] : undefined;
  const ms = typeof time === "string" ? Date.parse(time) : Number.NaN;
  return Number.isFinite(ms) ? new Date(ms).toISOString() : undefined;
}

/** Whether a version was published up to a time. True if its time is unknown. Pure. */
export function isOldEnough(packument: unknown, version: string, newestAllowed: number | undefined): boolean {
  const published = newestAllowed === undefined ? undefined : findPublished(packument, version);
  return published === undefined || Date.parse(published) <= (newestAllowed ?? 0);
}

const units: readonly [name: string, ms: number][] = [
  ["year", 365 * 86_400_000],
  ["month", 30 * 86_400_000],
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

/** Formats the age of a time: "3 hours ago". Pure. */
export function formatAge(published: string, now: number): string {
  const ageMs = now - Date.parse(published);
  for (const [name, ms] of units) {
    const count = Math.floor(ageMs / ms);
    if (count >= 1) return `${count} ${name}${count === 1 ? "" : "s"} ago`;
  }
  return "just now";
}
