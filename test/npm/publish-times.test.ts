import { expect, test } from "vitest";
import { findPublished, isOldEnough } from "../../src/npm/registry/publish-times.ts";

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
