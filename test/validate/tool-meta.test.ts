import { describe, expect, test } from "vitest";
import { entry, validateEntries, validateTool } from "./validate-tool.ts";

const codes = ["UnknownMetaKey", "InvalidMetaValue"] as const;
const validateMeta = (_meta: Record<string, unknown>) => validateTool({ _meta }, codes);

test("every key with a value of its type is fine, and so are keys of other vendors", async () => {
  const problems = await validateMeta({
    "trailblaze/isForLlm": false,
    "trailblaze/surfaceToLlm": false,
    "trailblaze/isRecordable": true,
    "trailblaze/requiresHost": true,
    "trailblaze/supportedDrivers": ["playwright-native"],
    "trailblaze/supportedPlatforms": ["IOS", "android", "Web"],
    "trailblaze/toolset": "auth",
    "trailblaze/requiresContext": false,
    "trailblaze/qualifiedName": "acme/sample/greet",
    "acme/isForLlm": "yes",
    isForLlm: 5,
  });
  expect(problems).toEqual([]);
});

test("empty lists mean everything", async () => {
  expect(
    await validateMeta({ "trailblaze/supportedDrivers": [], "trailblaze/supportedPlatforms": [] }),
  ).toEqual([]);
});

describe("an unknown key", () => {
  test.each([
    ["trailblaze/isForLLM", 'Did you mean "trailblaze/isForLlm"?'],
    ["trailblaze/supportedPlatform", 'Did you mean "trailblaze/supportedPlatforms"?'],
    ["Trailblaze/toolset", 'Did you mean "trailblaze/toolset"?'],
    ["trailblaze/colour", expect.stringMatching(/^Known keys: trailblaze\/isForLlm, /)],
    ["trailblaze/constructor", expect.stringMatching(/^Known keys: /)],
  ])("%s", async (key, hint) => {
    expect(await validateMeta({ [key]: true })).toMatchObject([
      { code: "UnknownMetaKey", severity: "warning", path: ["_meta", key], hint },
    ]);
  });
});

describe("a wrong value", () => {
  test.each([
    ["isForLlm", "no", 'must be true or false, but is the text "no"'],
    ["isForLlm", null, "must be true or false, but is null"],
    ["surfaceToLlm", 0, "must be true or false, but is a number"],
    ["isRecordable", [], "must be true or false, but is a list"],
    ["requiresHost", "true", 'must be true or false, but is the text "true"'],
    ["requiresContext", 1, "must be true or false, but is a number"],
    ["supportedDrivers", "ios-host", 'must be a list of texts, but is the text "ios-host"'],
    ["supportedDrivers", ["ios-host", 5], "must be a list of texts, but is a list with a number"],
    ["supportedPlatforms", "IOS", 'must be a list of ANDROID, IOS or WEB, but is the text "IOS"'],
    [
      "supportedPlatforms",
      ["IOS", "PHONE"],
      'must be a list of ANDROID, IOS or WEB, but is a list with the text "PHONE"',
    ],
    ["toolset", ["auth"], "must be a text, but is a list"],
    ["toolset", "", "must be a text, but is an empty text"],
  ])("%s: %j", async (name, value, reason) => {
    const key = `trailblaze/${name}`;
    expect(await validateMeta({ [key]: value })).toMatchObject([
      {
        code: "InvalidMetaValue",
        severity: "error",
        path: ["_meta", key],
        message: expect.stringContaining(reason),
      },
    ]);
  });
});

test("entries of bundles as well", async () => {
  const problems = await validateEntries(
    [entry({ _meta: { "trailblaze/toolset": 5, "trailblaze/x": 1 } })],
    codes,
  );
  expect(problems.map(({ code, path }) => `${code} ${path?.join(" ")}`)).toEqual([
    "InvalidMetaValue entries 0 _meta trailblaze/toolset",
    "UnknownMetaKey entries 0 _meta trailblaze/x",
  ]);
});
