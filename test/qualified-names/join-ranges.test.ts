import satisfies from "semver/functions/satisfies.js";
import { expect, test } from "vitest";
import { joinRanges } from "../../src/qualified-names/join-ranges.ts";

const versions = ["0.9.0", "1.0.0", "1.1.0", "1.2.0-alpha.1", "1.2.0", "1.9.9", "2.0.0", "2.5.0", "3.0.0"];
const inRange = (range: string) => versions.filter((version) => satisfies(version, range));

test.each([
  [["^1.1", "<1.9"]],
  [["^1.1", "^1"]],
  [["*", "^2"]],
  [["1 || 2", ">=1.1 <2.5 || 3"]],
  [["1.x", "1.0 - 1.2", "~1.1 || ~1.2"]],
  [["^1.2.0-beta.1", "<2"]],
  [["^2", "^2", "2"]],
])("the ranges %j join to one range", (ranges) => {
  const joined = joinRanges("jira", ranges).slice("jira@".length);
  expect(inRange(joined)).toEqual(
    ranges.map(inRange).reduce((left, right) => left.filter((version) => right.includes(version))),
  );
});

test.each([
  [[], "jira"],
  [[undefined, undefined], "jira"],
  [[undefined, "^1.2"], "jira@^1.2"],
  [["^1", "^1.2", "^1.2"], "jira@^1.2"],
  [["*", "1.2.3", "^1"], "jira@1.2.3"],
  [["^1", "1.x"], "jira@^1"],
  [["1.x", "^1"], "jira@1.x"],
])("the references %j to jira join to %s, unchanged if one of them implies the others", (ranges, spec) => {
  expect(joinRanges("jira", ranges)).toBe(spec);
});

test.each([[["^1", "^2"]], [["<1", ">=1"]], [["1 || 2", "3 || 4"]], [["^1.1", "~1.0"]]])(
  "the ranges %j have no version in common",
  (ranges) => {
    expect(() => joinRanges("jira", ranges)).toThrow(
      expect.objectContaining({ code: "PackVersionMismatch" }),
    );
  },
);

test("the ranges that have no version in common are named", () => {
  const args = { name: "@acme/jira", ranges: ["^1", "^2"] };
  expect(() => joinRanges("@acme/jira", ["^1", "*", "^2"])).toThrow(
    expect.objectContaining({
      code: "PackVersionMismatch",
      problem: expect.objectContaining({ args, pack: "@acme/jira" }),
    }),
  );
});

test("joined ranges are one range without spaces around it", () => {
  expect(joinRanges("jira", ["^1.1", "<1.9"])).toBe("jira@>=1.1.0 <2.0.0-0 <1.9.0-0");
});

test("ranges of more than 20 alternatives do not count beside shorter ones", () => {
  const ofLength = (length: number) => Array.from({ length }, (_, index) => `1.${index}.0`).join("||");
  expect(joinRanges("jira", ["*", ofLength(20)])).toBe(`jira@${ofLength(20)}`);
  expect(joinRanges("jira", ["*", ofLength(21)])).toBe("jira@*");
  expect(joinRanges("jira", [ofLength(22), ofLength(21)])).toBe(`jira@${ofLength(22)}`);
});

test("joining thousands of long ranges stops early", () => {
  const long = (start: number) => Array.from({ length: 100 }, (_, index) => `${start}.${index}`).join("||");
  const many = Array.from({ length: 5000 }, (_, index) => `>=1.0.${index}`);
  expect(joinRanges("jira", [...many, long(1), long(2)])).toBe("jira@>=1.0.9");
  expect(joinRanges("jira", [long(1)])).toBe(`jira@${long(1)}`);
});
