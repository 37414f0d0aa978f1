import { CelError } from "./cel-error.ts";
import { CelDuration } from "./values.ts";

const timestampText = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;
const durationText = /^[+-]?(?:\d{1,15}(?:\.\d{1,9})?(?:ns|us|ms|h|m|s))+$/;
const longestDuration = 100;

const unitMilliseconds: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 1e-3,
  ns: 1e-6,
};

/** Parses RFC 3339, or converts seconds since 1970. */
export function toTimestamp(value: unknown): Date {
  const time =
    typeof value === "string" && timestampText.test(value)
      ? new Date(value)
      : typeof value === "bigint" || typeof value === "number"
        ? new Date(Number(value) * 1000)
        : undefined;
  if (value instanceof Date) return value;
  if (time === undefined || Number.isNaN(time.getTime()))
    throw new CelError("a timestamp must have the form 2026-01-31T12:00:00Z, or be seconds since 1970");
  return time;
}

/** Parses a duration such as `1h30m` or `1.5s`. */
export function toDuration(value: unknown): CelDuration {
  if (value instanceof CelDuration) return value;
  if (typeof value !== "string" || value.length > longestDuration || !durationText.test(value))
    throw new CelError("a duration must have the form 1h30m or 1.5s");
  let sum = 0;
  for (const [, number, unit = ""] of value.matchAll(/([\d.]+)([a-z]+)/g))
    sum += Number(number) * (unitMilliseconds[unit] ?? Number.NaN);
  return new CelDuration(value.startsWith("-") ? -sum : sum);
}

const dayMilliseconds = 86_400_000;

/** Parts of timestamps in UTC, numbered as in CEL. */
export const timestampParts: ReadonlyMap<string, (time: Date) => number> = new Map([
  ["getFullYear", (time: Date) => time.getUTCFullYear()],
  ["getMonth", (time: Date) => time.getUTCMonth()],
  ["getDate", (time: Date) => time.getUTCDate()],
  ["getDayOfMonth", (time: Date) => time.getUTCDate() - 1],
  ["getDayOfWeek", (time: Date) => time.getUTCDay()],
  [
    "getDayOfYear",
    (time: Date) => Math.floor((time.getTime() - Date.UTC(time.getUTCFullYear(), 0, 1)) / dayMilliseconds),
  ],
  ["getHours", (time: Date) => time.getUTCHours()],
  ["getMinutes", (time: Date) => time.getUTCMinutes()],
  ["getSeconds", (time: Date) => time.getUTCSeconds()],
  ["getMilliseconds", (time: Date) => time.getUTCMilliseconds()],
]);

/** Durations in whole units. */
export const durationParts: ReadonlyMap<string, (duration: CelDuration) => number> = new Map([
  ["getHours", ({ milliseconds }: CelDuration) => Math.trunc(milliseconds / 3_600_000)],
  ["getMinutes", ({ milliseconds }: CelDuration) => Math.trunc(milliseconds / 60_000)],
  ["getSeconds", ({ milliseconds }: CelDuration) => Math.trunc(milliseconds / 1000)],
  ["getMilliseconds", ({ milliseconds }: CelDuration) => Math.trunc(milliseconds)],
]);
