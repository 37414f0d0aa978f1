import { expect, test } from "vitest";
import { fillPrompt } from "../../src/session/collect-items.ts";

const textOf = (content: string, args: Record<string, string>, names: string[]) => {
  const [first] = fillPrompt(content, args, names);
  return first?.content.type === "text" ? first.content.text : undefined;
};

test.each<[string, string[], Record<string, string>, string]>([
  ["{{a}} {{ a }} {{\n a\t}} ${{a}}", ["a"], { a: "$&" }, "$& $& $& ${{a}}"],
  ["{{issue.key}} {{issueXkey}}", ["issue.key"], { "issue.key": "T-1" }, "T-1 {{issueXkey}}"],
  [
    "{{a}}{{b}} [{{c}}] {{other}}",
    ["a", "b", "c"],
    { a: "{{b}}", b: "x", other: "y" },
    "{{b}}x [] {{other}}",
  ],
  ["{{constructor}} {{__proto__}}", ["constructor"], {}, " {{__proto__}}"],
  ["{{}} {{x}}", [], { x: "y" }, "{{}} {{x}}"],
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
