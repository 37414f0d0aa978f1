import { describe, expect, test } from "vitest";
import { parseExtension } from "../../src/extension-schema/parse-extension.ts";

/** The parsed `needs`, and the paths and arguments of what is wrong with them. */
function judge(needs: unknown) {
  const { extension, problems, usable } = parseExtension({ needs, tools: ["a"] }, "validation");
  for (const { code, severity } of problems) expect([code, severity]).toEqual(["InvalidNeeds", "error"]);
  expect(usable).toBe(true);
  expect(extension.tools).toHaveLength(1);
  return {
    needs: extension.needs,
    faults: problems.map(({ path = [], args }) => ({
      path: path.join("."),
      ...(args as { reason: string; hint?: string }),
    })),
  };
}

const pathsOf = (needs: unknown) => judge(needs).faults.map(({ path }) => path);

describe("valid needs", () => {
  test("a pack without `needs` declares nothing", () => {
    expect(parseExtension({}).extension.needs).toBeUndefined();
    expect(judge({})).toEqual({ needs: {}, faults: [] });
  });

  test("every key is optional, and an empty array differs from an absent key", () => {
    expect(judge({ env: [], "x-reason": { any: 1 } })).toEqual({ needs: { env: [] }, faults: [] });
  });

  test.each([
    ["env", ["A", "_a", "JIRA_TOKEN2"]],
    ["network", ["api.atlassian.com", "*", "https://a.b/c", ""]],
    ["read", ["${PROJECT}", "/etc", "a b"]],
    ["write", ["${TMP}/out"]],
    ["tools", ["web_click", "acme/jira@^1.2/createIssue", "the tools of the browser"]],
  ])("these entries of `%s` are valid: %j", (key, entries) => {
    expect(judge({ [key]: entries })).toEqual({ needs: { [key]: entries }, faults: [] });
  });
});

describe("invalid needs", () => {
  test.each([[null], [5], ["env"], [true], [[]], [["env"]]])(
    "`needs: %j` is invalid, and allows no variables",
    (value) => {
      expect(pathsOf(value)).toEqual(["needs"]);
      expect(judge(value).needs).toEqual({ env: [] });
    },
  );

  test.each([
    ["envs", "env"],
    ["Network", "network"],
    ["tool", "tools"],
    ["database", undefined],
  ])("the unknown key %s is reported with a suggestion: %s", (key, suggestion) => {
    const [fault, ...others] = judge({ [key]: [], env: ["A"] }).faults;
    expect(others).toEqual([]);
    expect(fault?.path).toBe(`needs.${key}`);
    expect(fault?.hint).toContain(suggestion === undefined ? "env, network" : `"${suggestion}"`);
  });

  test.each(["__proto__", "constructor", "toString", "X-own", "env\u0000"])(
    "the key %j is an unknown key and changes nothing",
    (key) => {
      const { needs, faults } = judge(JSON.parse(`{${JSON.stringify(key)}: ["A"], "env": ["B"]}`));
      expect(faults.map(({ path }) => path)).toEqual([`needs.${key}`]);
      expect(needs).toEqual({ env: ["B"] });
      expect(Object.getPrototypeOf(needs)).toBe(Object.prototype);
    },
  );

  test.each([
    ["env", { env: [] }],
    ["tools", {}],
    ["network", {}],
    ["read", {}],
    ["write", {}],
  ])("`needs.%s` that is not an array leaves %j", (key, left) => {
    for (const value of [null, "A", 5, {}, { 0: "A", length: 1 }]) {
      expect(pathsOf({ [key]: value })).toEqual([`needs.${key}`]);
      expect(judge({ [key]: value }).needs).toEqual(left);
    }
  });

  test.each(["env", "network", "read", "write", "tools"])(
    "an entry of `%s` that is not a string is reported at its place, and the others are kept",
    (key) => {
      const { needs, faults } = judge({ [key]: ["A", 5, null, ["A"], "A"] });
      expect(faults.map(({ path }) => path)).toEqual([1, 2, 3].map((index) => `needs.${key}.${index}`));
      expect(needs).toEqual({ [key]: ["A", "A"] });
    },
  );

  test("entries of `env` that are not names of variables allow nothing", () => {
    const entries = ["", "1A", "A-B", "A B", "A=1", "Ä", "A\n", "A\u200b", "*", "$HOME"];
    const { needs, faults } = judge({ env: entries });
    expect(faults.map(({ path }) => path)).toEqual(entries.map((_, index) => `needs.env.${index}`));
    expect(needs).toEqual({ env: [] });
  });
});

describe("why needs are invalid", () => {
  const hintOf = (needs: unknown) => judge(needs).faults[0]?.hint;

  test.each([
    [{ env: ["A=1"] }, "List only names, without values."],
    [{ env: ["A B"] }, "List only names, without values."],
    [{ env: ["1A"] }, expect.stringContaining('"JIRA_TOKEN"')],
    [[], "Use an object with the keys `env`, `network`, `read`, `write` and `tools`, which are optional."],
    [{ envs: [] }, 'Did you mean "env"?'],
    [{ database: [] }, 'Use one of env, network, read, write or tools, or start a custom key with "x-".'],
  ])("the hint for %j is: %s", (needs, hint) => {
    expect(hintOf(needs)).toEqual(hint);
  });
});

describe("hostile needs", () => {
  test("at most a thousand invalid entries are reported, and the valid ones are kept", () => {
    const env = Array.from({ length: 10_000 }, (_, index) => (index % 2 === 0 ? "*" : `A${index}`));
    const { extension, problems } = parseExtension({ needs: { env } });
    expect(problems).toHaveLength(1001);
    expect(problems.at(-1)).toMatchObject({ code: "MalformedExtension", path: [] });
    expect(extension.needs?.env).toHaveLength(5000);
  });
});
