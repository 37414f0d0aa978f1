import { expect, test } from "vitest";
import { entry, validateEntries, validateTool } from "./validate-tool.ts";

const codes = ["ToolNameConvention", "ReservedToolPrefix"] as const;
const codesOf = async (name: string) => (await validateTool({ name }, codes)).map(({ code }) => code);

test.each([
  "tap",
  "inputText",
  "checkout_applyCoupon",
  "myapp_ios_scroll",
  "myapp_login_v2",
  "myapp_login_v10",
  "a_b_c_doIt_v3",
  "webshop_buy",
])("the tool name %s follows the convention", async (name) => {
  expect(await codesOf(name)).toEqual([]);
});

test.each([
  "Tap",
  "create-issue",
  "jira_CreateIssue",
  "a_b_c_d_doIt",
  "_tap",
  "tap_",
  "a__b",
  "JIRA_create",
  "9lives",
])("ToolNameConvention is reported for %s", async (name) => {
  expect(await codesOf(name)).toEqual(["ToolNameConvention"]);
});

test.each(["org_mockServer", "ios_clearKeychain", "android_pressBack", "mobile_tap", "web_goBack"])(
  "ReservedToolPrefix is reported for %s",
  async (name) => {
    expect(await validateTool({ name }, codes)).toMatchObject([
      { code: "ReservedToolPrefix", severity: "warning", path: ["name"], line: 2 },
    ]);
  },
);

test("the names of entries of bundles are checked like names of tools", async () => {
  const problems = await validateEntries([entry({ name: "web_Greet" })], codes);
  expect(problems).toMatchObject([
    { code: "ToolNameConvention", path: ["entries", 0, "name"] },
    { code: "ReservedToolPrefix", path: ["entries", 0, "name"] },
  ]);
});

test("ToolNameConvention and ReservedToolPrefix are not reported for a name that clients reject", async () => {
  expect(await codesOf("ios_Clear.Keychain")).toEqual([]);
});
