import { describe, expect, test } from "vitest";
import {
  formatQualifiedName,
  isQualifiedName,
  parseQualifiedName,
  type QualifiedName,
  TrailblazeError,
} from "../../src/index.ts";

const issue = {
  publisher: "acme",
  pack: "jira",
  packageName: "@acme/jira",
  item: "createIssue",
  range: undefined,
};
const unscoped = { ...issue, publisher: undefined, packageName: "jira" };

describe("valid qualified names", () => {
  const readings: readonly [string, QualifiedName][] = [
    ["acme/jira/createIssue", issue],
    ["@acme/jira/createIssue", issue],
    ["jira/createIssue", unscoped],
    ["acme/jira@^1.2/createIssue", { ...issue, range: "^1.2" }],
    ["jira@>=1.0.0 <3/createIssue", { ...unscoped, range: ">=1.0.0 <3" }],
    ["JSONStream/1.b_c-D", { ...unscoped, pack: "JSONStream", packageName: "JSONStream", item: "1.b_c-D" }],
    [`acme/jira/${"x".repeat(64)}`, { ...issue, item: "x".repeat(64) }],
  ];

  test.each(readings)("the qualified name %s is parsed", (name, parts) => {
    expect(parseQualifiedName(name)).toStrictEqual(parts);
    expect(isQualifiedName(name)).toBe(true);
  });

  test.each(readings)(
    "the qualified name %s is formatted in its normal form, with its range",
    (name, parts) => {
      expect(formatQualifiedName(parts)).toBe(name.replace(/^@/, ""));
    },
  );
});

describe("invalid qualified names", () => {
  const malformed: readonly (readonly [what: string, name: string])[] = [
    ["nothing", ""],
    ["one segment", "createIssue"],
    ["a npm name", "@acme/jira"],
    ["an empty pack", "acme//createIssue"],
    ["a range after the item", "acme/jira/createIssue@^1"],
    ["an empty range", "acme/jira@/createIssue"],
    ["the dist-tag latest", "acme/jira@latest/createIssue"],
    ["a parent folder as pack", "../createIssue"],
    ["backslashes", "acme\\jira\\createIssue"],
    ["a space after", "acme/jira/x "],
    ["an escape in the pack", "acme/ji\u001bra/x"],
    ["a million characters", `acme/jira/${"x".repeat(1e6)}`],
    ["the pack __proto__", "__proto__/x"],
  ];

  test.each(malformed)("a qualified name is rejected with %s", (_, name) => {
    expect(isQualifiedName(name)).toBe(false);
    expect(() => parseQualifiedName(name)).toThrow(TrailblazeError);
    try {
      parseQualifiedName(name);
    } catch (error) {
      const { code, problem, message } = error as TrailblazeError;
      expect(code).toBe("InvalidQualifiedName");
      expect(problem).toMatchObject({ code: "InvalidQualifiedName", severity: "error", message });
      expect(message.length).toBeLessThan(400);
      expect(message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }
  });
});
