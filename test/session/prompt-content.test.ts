import { expect, test } from "vitest";
import { fillPrompt } from "../../src/session/session-prompts.ts";

const textOf = (content: string, args: Record<string, string>, names: string[]) => {
  const [first] = fillPrompt(content, args, names);
  return first?.content.type === "text" ? first.content.text : undefined;
};

test.each<[string, string[], Record<string, string>, string]>([
  ["{{a}} {{ a }} {{\n a\t}}", ["a"], { a: "x" }, "x x x"],
  ["On {{issue.key}}.", ["issue.key"], { "issue.key": "T-1" }, "On T-1."],
  [
    "{{Größe}} {{a b}} {{x|y}} {{$&}}",
    ["Größe", "a b", "x|y", "$&"],
    { Größe: "1", "a b": "2", "x|y": "3", "$&": "$&" },
    "1 2 3 $&",
  ],
  ["{{issueXkey}}", ["issue.key"], { "issue.key": "T-1" }, "{{issueXkey}}"],
  ["${{a}} ${{ a }} $ {{a}}", ["a"], { a: "x" }, "${{a}} ${{ a }} $ x"],
  ["{{a}}{{b}}", ["a", "b"], { a: "{{b}}", b: "x" }, "{{b}}x"],
  [
    "[{{given}}] [{{optional}}] [{{other}}]",
    ["given", "optional"],
    { given: "x", other: "y" },
    "[x] [] [{{other}}]",
  ],
  ["{{constructor}} {{__proto__}}", ["constructor"], {}, " {{__proto__}}"],
  ["{{}} {{x}}", [], { x: "y" }, "{{}} {{x}}"],
  ["{{}} {{x}}", [""], {}, "{{}} {{x}}"],
  ["{{ab}} {{a}}", ["a", "ab"], { a: "1", ab: "2" }, "2 1"],
])("the content %j with the arguments %j is filled as documented", (content, names, args, filled) => {
  expect(textOf(content, args, names)).toBe(filled);
});

test("every string in an array of messages is filled, and keys stay", () => {
  const content = [
    { role: "assistant", content: { type: "text", text: "{{ issue.key }}", "{{x}}": ["{{x}}"] } },
  ];
  expect(fillPrompt(content, { "issue.key": "T-1", x: "y" }, ["issue.key", "x"])).toEqual([
    { role: "assistant", content: { type: "text", text: "T-1", "{{x}}": ["y"] } },
  ]);
});
