import { describe, expect, test } from "vitest";
import { explainInvalidItemName, isPackageName } from "../../src/qualified-names/item-name.ts";

const characters =
  "it must have 1 to 64 characters from A-Z, a-z, 0-9, _, . and -, starting with a letter or digit";

describe("names of items", () => {
  test.each([
    ...["a", "0", "get_issue", "a.b-c", "a..b", "a".repeat(64), "toString", "com10", "con_", "x.con"],
  ])("%j is valid", (name) => {
    expect(explainInvalidItemName(name)).toBeUndefined();
  });

  test.each([
    ...["", "a".repeat(65), "get issue", "a/b", "a\n", "a\u200b", "a\ud800", "aé", "a@1"].map((name) => [
      name,
      characters,
    ]),
    ...["_a", "..", " a", "сreate"].map((name) => [name, characters]),
    ["a.", "it ends with a period"],
    ...["CON", "Com1", "lpt9.tar.gz"].map((name) => [name, "it is a device name that Windows reserves"]),
    ...["__proto__", "constructor", "prototype"].map((name) => [
      name,
      "it is a reserved key of JavaScript objects",
    ]),
  ])("%j is refused, because %s", (name, reason) => {
    expect(explainInvalidItemName(name)).toBe(reason);
  });
});

describe("npm's names of packages", () => {
  test.each(["jira", "JSONStream", "~a", "a.b_c-d~", "@acme/jira", "@_a/b", "@acme/_x"])(
    "%j is one",
    (name) => {
      expect(isPackageName(name)).toBe(true);
    },
  );

  test.each([
    "",
    ".a",
    "_a",
    "a/b",
    "@acme",
    "@acme/.a",
    "@acme/a/b",
    "@../x",
    "..",
    "a b",
    "a\\b",
    "%2e",
    "é",
  ])("%j is none", (name) => {
    expect(isPackageName(name)).toBe(false);
  });

  test("a name has at most 214 characters", () => {
    expect(isPackageName("a".repeat(214))).toBe(true);
    expect(isPackageName("a".repeat(215))).toBe(false);
  });
});
