import fc from "fast-check";
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
    ["@acme/jira@~1.2.3/createIssue", { ...issue, range: "~1.2.3" }],
    ["jira@1.2.3-beta.1/createIssue", { ...unscoped, range: "1.2.3-beta.1" }],
    ["jira@>=1.0.0 <3/createIssue", { ...unscoped, range: ">=1.0.0 <3" }],
    ["jira@^1 || ^2/createIssue", { ...unscoped, range: "^1 || ^2" }],
    ["jira@1.x/createIssue", { ...unscoped, range: "1.x" }],
    ["jira@*/createIssue", { ...unscoped, range: "*" }],
    ["lodash.merge/a", { ...unscoped, pack: "lodash.merge", packageName: "lodash.merge", item: "a" }],
    ["JSONStream/1.b_c-D", { ...unscoped, pack: "JSONStream", packageName: "JSONStream", item: "1.b_c-D" }],
    ["me/_x/a", { ...unscoped, publisher: "me", pack: "_x", packageName: "@me/_x", item: "a" }],
    ["me/-x/a", { ...unscoped, publisher: "me", pack: "-x", packageName: "@me/-x", item: "a" }],
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

  test("a qualified name can be formatted from its parts", () => {
    expect(formatQualifiedName({ publisher: "acme", pack: "jira", item: "getIssue" })).toBe(
      "acme/jira/getIssue",
    );
    expect(formatQualifiedName({ pack: "jira", item: "getIssue", range: "^2" })).toBe("jira@^2/getIssue");
  });
});

describe("invalid qualified names", () => {
  const malformed: readonly (readonly [what: string, name: string])[] = [
    ["nothing", ""],
    ["one segment", "createIssue"],
    ["a npm name", "@acme/jira"],
    ["a scope and an item", "@jira/createIssue"],
    ["four segments", "acme/jira/tools/createIssue"],
    ["only slashes", "//"],
    ["an empty pack", "acme//createIssue"],
    ["an empty publisher", "/jira/createIssue"],
    ["an empty scope", "@/jira/createIssue"],
    ["an empty item", "acme/jira/"],
    ["a second @", "@@acme/jira/createIssue"],
    ["a publisher with an @ inside", "ac@me/jira/createIssue"],
    ["a range after the publisher", "acme@^1/jira/createIssue"],
    ["a range after the item", "acme/jira/createIssue@^1"],
    ["an empty range", "acme/jira@/createIssue"],
    ["a blank range", "acme/jira@ /createIssue"],
    ["two ranges", "acme/jira@1@2/createIssue"],
    ["the dist-tag latest", "acme/jira@latest/createIssue"],
    ["the dist-tag next", "jira@next/createIssue"],
    ["an alias", "jira@npm:other/createIssue"],
    ["a range that is none", "jira@one.two/createIssue"],
    ["a parent folder as pack", "../createIssue"],
    ["a parent folder as publisher", "../jira/createIssue"],
    ["the folder itself as pack", "acme/./createIssue"],
    ["backslashes", "acme\\jira\\createIssue"],
    ["an absolute path", "/etc/passwd"],
    ["a Windows path", "C:/windows/system32"],
    ["an address", "https://x/y"],
    ["an encoded dot", "%2e%2e/x"],
    ["a space before", " acme/jira/x"],
    ["a space after", "acme/jira/x "],
    ["a line break after", "acme/jira/x\n"],
    ["an escape in the pack", "acme/ji\u001bra/x"],
    ["a line break in the range", "acme/jira@^1\n/x"],
    ["a tab in the range", "acme/jira@>=1\t<2/x"],
    ["a zero-width character in the range", "acme/jira@^1\ufeff/x"],
    ["a pack of 300 characters", `acme/${"x".repeat(300)}/a`],
    ["a million characters", `acme/jira/${"x".repeat(1e6)}`],
    ["a million slashes", "/".repeat(1e6)],
    ["a range of a million characters", `jira@${"1 ".repeat(5e5)}/x`],
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

  test.each<[string, string]>([
    ["", "a segment is empty"],
    ["acme//createIssue", "a segment is empty"],
    ["createIssue", "it has no slash"],
    ["@acme/jira", "it names a pack without an item"],
    ["acme/jira/tools/createIssue", "it has more than three segments"],
    ["acme/.jira/createIssue", "npm does not allow this package name"],
    ["acme/@1/createIssue", "npm does not allow this package name"],
    ["acme/jira@/createIssue", "the part after the @ is not a semver range"],
    ["acme/jira@latest/createIssue", "the part after the @ is not a semver range"],
    ["acme/jira/_x", "the item name is not valid (it does not start with a letter or digit)"],
    [`jira/${"x".repeat(508)}`, "it is longer than 512 characters"],
  ])("the qualified name %s is refused with a reason", (name, reason) => {
    expect(() => parseQualifiedName(name)).toThrow(
      expect.objectContaining({
        problem: expect.objectContaining({ args: expect.objectContaining({ reason }) }),
      }),
    );
  });

  test("a qualified name of 512 characters is accepted", () => {
    expect(isQualifiedName(`jira@${"^1.2 || ".repeat(62)}^1.2.3456/x`)).toBe(true);
  });
});

describe("arbitrary values as qualified names", () => {
  const hostile: readonly (readonly [what: string, value: unknown])[] = [
    ["undefined", undefined],
    ["null", null],
    ["a number", 5],
    ["a symbol", Symbol("a/b")],
    ["a big integer", 10n],
    ["a function", () => "a/b"],
    ["a list that reads like a name", ["acme/jira/x"]],
    ["a boxed text", Object("acme/jira/x")],
    ["an object without prototype", Object.create(null)],
    [
      "an object whose text throws",
      {
        toString() {
          throw new Error("trap");
        },
      },
    ],
    [
      "a proxy that throws",
      new Proxy(
        {},
        {
          get() {
            throw new Error("trap");
          },
        },
      ),
    ],
  ];

  test.each(hostile)("for %s, the test returns false and parsing throws InvalidQualifiedName", (_, value) => {
    expect(isQualifiedName(value)).toBe(false);
    expect(() => parseQualifiedName(value as string)).toThrow(
      expect.objectContaining({
        name: "TrailblazeError",
        message: expect.stringContaining("it is not a string"),
      }),
    );
  });

  /** Texts that are nearly names. */
  const nearNames = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          "/",
          "@",
          "..",
          ".",
          "acme",
          "jira",
          "createIssue",
          "^1.2",
          "latest",
          "-",
          "con",
          "__proto__",
        ),
        fc.string({ unit: "binary", maxLength: 3 }),
      ),
      { maxLength: 9 },
    )
    .map((parts) => parts.join(""));

  test("the test and the parser agree, and the parser throws only InvalidQualifiedName", () => {
    fc.assert(
      fc.property(fc.oneof(nearNames, fc.anything()), (value) => {
        let parsed: QualifiedName | undefined;
        try {
          parsed = parseQualifiedName(value as string);
        } catch (error) {
          expect(error).toBeInstanceOf(TrailblazeError);
          expect(error).toMatchObject({ code: "InvalidQualifiedName" });
        }
        expect(isQualifiedName(value)).toBe(parsed !== undefined);
      }),
      { numRuns: 1000 },
    );
  });

  const segment = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,12}$/);
  const item = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,40}[A-Za-z0-9_-]$/);
  const names = fc.record({
    publisher: fc.option(segment, { nil: undefined }),
    pack: segment,
    item,
    range: fc.constantFrom(undefined, "^1.2", "1.x", ">=1 <2", "~0.0.1 || 5", "*"),
  });

  test("parsing a formatted name returns the same parts", () => {
    fc.assert(
      fc.property(names, (parts) => {
        const text = formatQualifiedName(parts);
        fc.pre(isQualifiedName(text));
        const { publisher, pack } = parts;
        expect(parseQualifiedName(text)).toStrictEqual({
          ...parts,
          packageName: publisher === undefined ? pack : `@${publisher}/${pack}`,
        });
      }),
    );
  });
});
