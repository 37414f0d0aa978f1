import { expect, test } from "vitest";
import { findNewestAllowed } from "../../src/npm/registry/release-age.ts";

const now = Date.parse("2026-03-10T12:00:00Z");
const find = (values: Record<string, string | string[]>, npmVersion: string | undefined) => {
  const newest = findNewestAllowed(new Map(Object.entries(values)), "@acme/jira", { now, npmVersion });
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
])("%j allows versions published up to %s", (values, expected) => {
  for (const npmVersion of [undefined, "11.17.0", "12.0.0"]) expect(find(values, npmVersion)).toBe(expected);
});

test("an npm that does not know the release age setting ignores it", () => {
  const values = { "min-release-age": "3", "min-release-age-exclude": ["@acme/*"] };
  expect(find(values, "11.12.0")).toBe("2026-03-07T12:00:00.000Z");
  expect(find(values, "10.9.2")).toBeUndefined();
  expect(find({ before: "2025-01-01" }, "10.9.2")).toBe("2025-01-01T00:00:00.000Z");
});
