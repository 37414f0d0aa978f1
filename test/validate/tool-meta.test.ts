import { describe, expect, test } from "vitest";
import { entry, validateEntries, validateTool } from "./validate-tool.ts";

const codes = ["UnknownMetaKey", "InvalidMetaValue"] as const;
const validateMeta = (_meta: Record<string, unknown>) => validateTool({ _meta }, codes);

test("validate accepts every known key of `_meta`, and keys of other vendors", async () => {
  const problems = await validateMeta({
    "trailblaze/isForLlm": false,
    "trailblaze/surfaceToLlm": false,
    "trailblaze/isRecordable": true,
    "trailblaze/requiresHost": true,
    "trailblaze/supportedDrivers": [],
    "trailblaze/supportedPlatforms": ["IOS", "android", "Web"],
    "trailblaze/toolset": "auth",
    "trailblaze/requiresContext": false,
    "trailblaze/qualifiedName": "acme/sample/greet",
    "acme/isForLlm": "yes",
    isForLlm: 5,
  });
  expect(problems).toEqual([]);
});

describe("unknown keys of `_meta`", () => {
  test.each([
    ["trailblaze/isForLLM", "trailblaze/isForLlm"],
    ["trailblaze/supportedPlatform", "trailblaze/supportedPlatforms"],
    ["Trailblaze/toolset", "trailblaze/toolset"],
    ["trailblaze/colour", undefined],
    ["trailblaze/constructor", undefined],
  ])("UnknownMetaKey is reported for %s", async (key, suggestion) => {
    const [problem, ...others] = await validateMeta({ [key]: true });
    expect(problem).toMatchObject({ code: "UnknownMetaKey", severity: "warning", path: ["_meta", key] });
    const known = expect.arrayContaining(["trailblaze/isForLlm"]);
    expect(problem?.args).toEqual({ key, suggestion, known });
    expect(others).toEqual([]);
  });
});

describe("invalid values of `_meta`", () => {
  test.each([
    ["isForLlm", "no", /"no"/],
    ["surfaceToLlm", 0, /number/],
    ["requiresHost", "true", /"true"/],
    ["requiresContext", 1, /number/],
    ["supportedDrivers", "ios-host", /"ios-host"/],
    ["supportedDrivers", ["ios-host", 5], /array.*number/],
    ["supportedPlatforms", "IOS", /"IOS"/],
    ["supportedPlatforms", ["IOS", "PHONE"], /array.*"PHONE"/],
    ["toolset", ["auth"], /array/],
    ["toolset", "", /empty/],
  ])("InvalidMetaValue is reported for %s: %j", async (name, value, found) => {
    const key = `trailblaze/${name}`;
    expect(await validateMeta({ [key]: value })).toMatchObject([
      {
        code: "InvalidMetaValue",
        severity: "error",
        path: ["_meta", key],
        args: { key, found: expect.stringMatching(found) },
      },
    ]);
  });
});

test("keys of `_meta` are also checked in entries of bundles", async () => {
  const problems = await validateEntries(
    [entry({ _meta: { "trailblaze/toolset": 5, "trailblaze/x": 1 } })],
    codes,
  );
  expect(problems.map(({ code, path }) => `${code} ${path?.join(" ")}`)).toEqual([
    "InvalidMetaValue entries 0 _meta trailblaze/toolset",
    "UnknownMetaKey entries 0 _meta trailblaze/x",
  ]);
});
