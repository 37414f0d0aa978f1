import { describe, expect, test } from "vitest";
import { splitTemplates } from "../../src/expressions/templates.ts";

const templatesIn = (text: string) => splitTemplates(text).parts.filter((part) => typeof part === "object");
const expressionsOf = (text: string) => templatesIn(text).map(({ expression }) => expression);

describe("finding templates", () => {
  test.each<[string, string[]]>([
    ["${{ a }}", ["a"]],
    ["x ${{a}} y ${{ b }} z", ["a", "b"]],
    ["${{ {'k': {'l': 1}} }}", ["{'k': {'l': 1}}"]],
    ['${{ "}}" }}', ['"}}"']],
    ["${{ 'it\\'s }}' }}", ["'it\\'s }}'"]],
    ["${{ a // it's {\n + b }}", ["a // it's {\n + b"]],
    ["${{ a //'\n + b }}", ["a //'\n + b"]],
    ["${{ {'k': 1 // }}\n} }}", ["{'k': 1 // }}\n}"]],
    ["${{ 'a//' + {} }}", ["'a//' + {}"]],
    ["${{ a}b }}", ["a}b"]],
    ["$${{ literal }} ${{ a }}", ["a"]],
    ["no template { } $ {{", []],
  ])("templates are found in %j", (text, expressions) => {
    expect(expressionsOf(text)).toEqual(expressions);
    expect(splitTemplates(text).unclosed).toBeUndefined();
  });

  test.each(["${{ a.b? }}", "${{ a.b ? }}", "${{a.b?}}"])(
    "the mark at the end of %s says that its value may be absent",
    (text) => {
      expect(templatesIn(text)).toMatchObject([{ expression: "a.b", mayBeAbsent: true }]);
    },
  );

  test("a text of many ends and beginnings does not take minutes", () => {
    expect(expressionsOf("${{(}}".repeat(20_000))).toHaveLength(20_000);
  });
});
