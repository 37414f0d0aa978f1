import { expect, test } from "vitest";
import { findNewestAllowed } from "../../src/io/release-age.ts";

const now = Date.parse("2026-03-10T12:00:00Z");
const find = (values: Record<string, string | string[]>, name = "@acme/jira") => {
  const newest = findNewestAllowed(new Map(Object.entries(values)), name, now);
  return newest === undefined ? undefined : new Date(newest).toISOString();
};

test.each([
  [{}, undefined],
  [{ "min-release-age": "3" }, "2026-03-07T12:00:00.000Z"],
  [{ "min-release-age": "0" }, undefined],
  [{ "min-release-age": "soon" }, undefined],
  [{ before: "2025-01-01" }, "2025-01-01T00:00:00.000Z"],
  [{ before: "null", "min-release-age": "1" }, "2026-03-09T12:00:00.000Z"],
  [{ before: "2025-01-01", "min-release-age": "1" }, "2025-01-01T00:00:00.000Z"],
  [{ "min-release-age": "3", "min-release-age-exclude": ["@acme/*"] }, undefined],
  [{ "min-release-age": "3", "min-release-age-exclude": "@acme/jira" }, undefined],
  [{ "min-release-age": "3", "min-release-age-exclude": ["@acme/j", "*"] }, "2026-03-07T12:00:00.000Z"],
])("%j allows what was published up to %s", (values, expected) => {
  expect(find(values)).toBe(expected);
});
