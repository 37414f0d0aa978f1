import { expect, test } from "vitest";
import { findPublished, formatAge, isOldEnough } from "../../src/npm/registry/publish-times.ts";

const packument = { time: { "1.0.0": "2026-03-01T00:00:00Z", "2.0.0": "no time", "3.0.0": 5 } };

test("the publish time of a version is read from the registry's document", () => {
  expect(findPublished(packument, "1.0.0")).toBe("2026-03-01T00:00:00.000Z");
  for (const version of ["2.0.0", "3.0.0", "4.0.0", "constructor"])
    expect(findPublished(packument, version)).toBeUndefined();
  for (const odd of [undefined, null, {}, { time: [] }, { time: "x" }])
    expect(findPublished(odd, "1.0.0")).toBeUndefined();
});

test("a version is old enough if it was published by the given time, or if either time is unknown", () => {
  const time = Date.parse("2026-03-01T00:00:00Z");
  expect(isOldEnough(packument, "1.0.0", time)).toBe(true);
  expect(isOldEnough(packument, "1.0.0", time - 1)).toBe(false);
  expect(isOldEnough(packument, "2.0.0", 0)).toBe(true);
  expect(isOldEnough(packument, "1.0.0", undefined)).toBe(true);
});

test.each([
  [-5, "just now"],
  [59, "just now"],
  [60, "1 minute ago"],
  [3 * 3600 + 5, "3 hours ago"],
  [86_399, "23 hours ago"],
  [86_400, "1 day ago"],
  [45 * 86_400, "1 month ago"],
  [800 * 86_400, "2 years ago"],
])("an age of %d seconds is shown as %s", (seconds, age) => {
  const now = Date.parse("2026-03-01T00:00:00Z");
  expect(formatAge(new Date(now - seconds * 1000).toISOString(), now)).toBe(age);
});
