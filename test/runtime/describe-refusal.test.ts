import { describe, expect, test } from "vitest";
import { describeRefusal, findMisspelledArguments } from "../../src/runtime/describe-refusal.ts";

const schema = { properties: { issueKey: {}, summary: { default: "None." }, constructor: {} } };

describe("a misspelled argument", () => {
  test.each([
    [["issueKy"], [{ written: "issueKy", suggestion: "issueKey" }]],
    [["sumary", "x"], [{ written: "sumary", suggestion: "summary" }]],
    [["ISSUEKEY"], [{ written: "ISSUEKEY", suggestion: "issueKey" }]],
    [["issueKey", "issueKeys"], []],
    [["toString"], []],
  ])("%j is suggested the declared name that was not given", (given, found) => {
    expect(findMisspelledArguments(schema, given)).toEqual(found);
  });

  test("has no suggestion if the schema declares no properties", () => {
    for (const one of [undefined, {}, { properties: [] }])
      expect(findMisspelledArguments(one, ["issueKy"])).toEqual([]);
  });

  test("is named in the refusal with its suggestion", () => {
    const checked = { ok: false, message: "/issueKey is required", missing: ["issueKey"] } as const;
    expect(describeRefusal("get", schema, ["issueKy"], checked)).toMatch(/"issueKey".*"issueKy"/);
    expect(describeRefusal("get", schema, ["other"], checked)).toMatch(/is required$/);
  });
});
