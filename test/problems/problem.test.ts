import { describe, expect, test } from "vitest";
import { createProblem } from "../../src/problems/problem.ts";

describe("the arguments of a problem", () => {
  test("they are plain data: strings are cut, and undefined values are left out", () => {
    const long = "x".repeat(5000);
    const cut = `${"x".repeat(4096)}… (904 more characters)`;
    const args = {
      name: long,
      nearest: [long, "a"],
      kind: undefined,
      deep: { none: null, count: 1, yes: true, no: undefined, list: [undefined, long] },
    };
    const problem = createProblem("ToolNotFound", args as never);
    expect(problem.args).toStrictEqual({
      name: cut,
      nearest: [cut, "a"],
      deep: { none: null, count: 1, yes: true, list: [undefined, cut] },
    });
  });
});

test("the path of a file has slashes on Windows, too", () => {
  const fileOf = (file: string) => createProblem("UnsupportedDefinitionFormat", { file } as never, { file });
  for (const [file, shown] of [
    ["C:\\R&D\\a b.json", "C:/R&D/a b.json"],
    ["\\\\host\\share\\x.json", "//host/share/x.json"],
    ["/a\\b.json", "/a\\b.json"],
    ["a\\b.json", "a\\b.json"],
  ] as const)
    expect(fileOf(file)).toMatchObject({ file: shown, args: { file: shown } });
});

test("messages and hints keep their lines", () => {
  const { message, hint } = createProblem("InvalidArguments", { reason: "a\nb", hint: "c\u0007\nd" });
  expect(message.split("\n")).toHaveLength(2);
  expect(hint).toContain("c\\u{0007}\nd");
});
