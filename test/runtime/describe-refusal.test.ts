import { describe, expect, test } from "vitest";
import { describeRefusal, findMisspelledArguments } from "../../src/runtime/invoke-tool.ts";

const schema = { properties: { issueKey: {}, summary: { default: "None." }, constructor: {} } };

describe("misspelled arguments", () => {
  test.each([
    [["issueKy"], [{ written: "issueKy", suggestion: "issueKey" }]],
    [["sumary", "x"], [{ written: "sumary", suggestion: "summary" }]],
    [["ISSUEKEY"], [{ written: "ISSUEKEY", suggestion: "issueKey" }]],
    [["issueKey", "issueKeys"], []],
    [["toString"], []],
  ])("arguments named %j get suggestions among the declared names that are missing", (given, found) => {
    expect(findMisspelledArguments(schema, given)).toEqual(found);
  });

  test("a misspelled argument gets no suggestion if the schema declares no properties", () => {
    for (const one of [undefined, {}, { properties: [] }])
      expect(findMisspelledArguments(one, ["issueKy"])).toEqual([]);
  });

  test("the message about a missing argument names the misspelled one", () => {
    const checked = { ok: false, message: "/issueKey is required", missing: ["issueKey"] } as const;
    expect(describeRefusal("get", schema, ["issueKy"], checked)).toMatch(/"issueKey".*"issueKy"/);
    expect(describeRefusal("get", schema, ["other"], checked)).toMatch(/is required$/);
  });
});
