import { expect, test } from "vitest";
import type { TrailblazeToolMeta } from "../../packages/scripting/src/index.ts";
import { findMetaProblems, metaKeys } from "../../src/extension-schema/meta-schema.ts";

test("the known keys of `_meta` are those that the package for authors has types for", () => {
  const typed: Required<Pick<TrailblazeToolMeta, keyof typeof metaKeys>> = {
    "trailblaze/isForLlm": true,
    "trailblaze/surfaceToLlm": true,
    "trailblaze/isRecordable": true,
    "trailblaze/requiresHost": true,
    "trailblaze/supportedDrivers": ["ios-host"],
    "trailblaze/supportedPlatforms": ["ios", "ANDROID", "web"],
    "trailblaze/toolset": "auth",
    "trailblaze/requiresContext": true,
  };
  expect(Object.keys(typed)).toEqual(Object.keys(metaKeys));
  expect([...findMetaProblems(typed)]).toEqual([]);
});

test("values that JSON does not have are described, too", () => {
  const list = [1n, () => 1, [1n], "ios"];
  list.push(list as never);
  const found = (value: unknown) =>
    findMetaProblems({ "trailblaze/supportedPlatforms": value }).get("trailblaze/supportedPlatforms")?.args;
  expect(found(list)).toMatchObject({ found: '[a bigint, a function, an array, "ios", an array]' });
  expect(found(() => 1)).toMatchObject({ found: "a function" });
});
