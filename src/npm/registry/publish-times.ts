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
