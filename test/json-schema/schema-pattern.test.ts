import { expect, test } from "vitest";
import { createSchemaPattern } from "../../src/json-schema/schema-validator.ts";

const create = (pattern: string, isCall = true) => createSchemaPattern(pattern, isCall);

test("a pattern that is nested too deeply for our engine matches short strings", () => {
  const pattern = `${"(?:".repeat(5000)}a${")".repeat(5000)}`;
  expect(create(pattern).test("ba")).toBe(true);
});

test.each(["^(?!x)a*b$", "^(a)\\1*b$", "^(?<!x)a{0,9000}b$"])(
  "the pattern %s, which needs backtracking, matches strings of up to 1,000 characters, in calls alone",
  (written) => {
    const pattern = create(written);
    expect(pattern.test(`${"a".repeat(999)}b`)).toBe(true);
    expect(pattern.test(`${"a".repeat(999)}c`)).toBe(false);
    expect(() => pattern.test(`${"a".repeat(1000)}b`)).toThrow("is too long to be matched");
    expect(() => create(written, false).test("aab")).toThrow("only calls match the pattern");
  },
);
