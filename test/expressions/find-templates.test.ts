import { describe, expect, test } from "vitest";
import { findTemplates } from "../../src/expressions/find-templates.ts";

const expressionsOf = (text: string) => findTemplates(text).templates.map(({ expression }) => expression);

describe("finding templates", () => {
  test.each<[string, string[]]>([
    ["${{ a }}", ["a"]],
    ["x ${{a}} y ${{ b }} z", ["a", "b"]],
    ["${{ {'k': 1} }}", ["{'k': 1}"]],
    ["${{ {'k': {'l': 1}} }}", ["{'k': {'l': 1}}"]],
    ["${{ '}}' + a }}", ["'}}' + a"]],
    ['${{ "}}" }}', ['"}}"']],
    ["${{ 'it\\'s }}' }}", ["'it\\'s }}'"]],
    ["${{ r'\\' + '}}' }}", ["r'\\' + '}}'"]],
    ["${{ br'\\' + '}}' }}", ["br'\\' + '}}'"]],
    ["${{ for'\\'}}' }}", ["for'\\'}}'"]],
    ["${{ '''a'}}''' }}", ["'''a'}}'''"]],
    ["$${{ literal }} ${{ a }}", ["a"]],
    ["no template { } $ {{", []],
  ])("templates are found in %j", (text, expressions) => {
    expect(expressionsOf(text)).toEqual(expressions);
    expect(findTemplates(text).unclosed).toBeUndefined();
  });

  test("a mark at the end of a template says that its value may be absent", () => {
    expect(findTemplates("${{ a.b? }}").templates).toMatchObject([{ expression: "a.b", mayBeAbsent: true }]);
  });

  test.each([
    ["${{ a", 0],
    ["x ${{ 'a }}", 2],
    ["${{ {'k': 1 }}", 0],
  ])("an unclosed template in %j is reported", (text, offset) => {
    expect(findTemplates(text).unclosed).toBe(offset);
  });
});
