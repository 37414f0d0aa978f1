import { expect, test } from "vitest";
import type { TrailblazeToolMeta } from "../../packages/scripting/src/index.ts";
import {
  expectedOf,
  findMetaFault,
  isMetaKey,
  type MetaKey,
  metaKeys,
} from "../../src/extension-schema/meta-keys.ts";

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
  for (const [key, value] of Object.entries(typed)) {
    expect(isMetaKey(key) && findMetaFault(key, value)).toBe(undefined);
  }
});

test("names of Object.prototype's properties are not known keys", () => {
  for (const key of ["constructor", "__proto__", "toString", "trailblaze/qualifiedName"])
    expect(isMetaKey(key)).toBe(false);
});

test.each<[MetaKey, unknown, string, string]>([
  ["trailblaze/isForLlm", "true", "a boolean", 'the string "true"'],
  ["trailblaze/isForLlm", 1, "a boolean", "a number"],
  ["trailblaze/toolset", "", "a string", "an empty string"],
  ["trailblaze/toolset", " ", "a string", "an empty string"],
  ["trailblaze/toolset", ["auth"], "a string", "an array"],
  ["trailblaze/supportedDrivers", "ios-host", "an array of strings", 'the string "ios-host"'],
  ["trailblaze/supportedDrivers", ["ios-host", 5], "an array of strings", "an array with a number"],
  ["trailblaze/supportedDrivers", [" "], "an array of strings", "an array with an empty string"],
  [
    "trailblaze/supportedPlatforms",
    ["web", "windows"],
    "an array of ANDROID, IOS or WEB",
    'an array with the string "windows"',
  ],
  ["trailblaze/supportedPlatforms", [null], "an array of ANDROID, IOS or WEB", "an array with null"],
])("%s: %j is invalid, because it must be %s and is %s", (key, value, expected, found) => {
  expect(findMetaFault(key, value)).toEqual({ expected, found });
  expect(expectedOf(key)).toBe(expected);
});

test.each<[MetaKey, unknown]>([
  ["trailblaze/isForLlm", false],
  ["trailblaze/toolset", "auth"],
  ["trailblaze/supportedDrivers", []],
  ["trailblaze/supportedPlatforms", ["Android", "IOS", "web"]],
])("%s: %j is valid", (key, value) => {
  expect(findMetaFault(key, value)).toBeUndefined();
});
