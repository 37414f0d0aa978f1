import { describe, expect, test } from "vitest";
import type { Problem } from "../../src/problems/index.ts";
import { formatProblem } from "../../src/problems/index.ts";

/** Everything that acts on a terminal or is not seen: controls, formats, surrogates, line and paragraph separators. */
const acting = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

const problem: Omit<Problem, "args"> = {
  code: "InvalidItemName",
  severity: "error",
  message: "The name is not allowed.",
  hint: "Take another one.",
  pack: "@acme/jira",
  kind: "tool",
  item: "getIssue",
  file: "package.json",
  path: ["tools", 1],
  line: 6,
  column: 14,
};

describe("a problem formatted for people", () => {
  test("a problem shows its severity, code and place, then its message and hint", () => {
    expect(formatProblem(problem)).toBe(
      [
        "error InvalidItemName  @acme/jira › tool getIssue › package.json:6:14",
        "  The name is not allowed.",
        "  hint: Take another one.",
      ].join("\n"),
    );
  });

  test.each([false, true])("no part of a problem contains control characters (color: %s)", (color) => {
    const text =
      "a\u001b[2J\u009b31m\u001b]0;title\u0007\u202e\u2066\u200b\ufeff\ud800\udc00\u{e0041}\u2028\r\b\u007f\u00ad\n\0é";
    const parts = { message: text, hint: text, pack: text, item: text, file: text, path: [text] };
    const lines = formatProblem({ ...problem, ...parts }, { color }).split("\n");
    expect(lines).toHaveLength(3);
    for (const line of lines)
      expect(line.replace(/\u001b\[\d{1,2}m/g, color ? "" : "$&")).not.toMatch(acting);
  });
});

describe("the lines of a formatted problem", () => {
  const { code, severity, message } = problem;

  test("the output of a program follows the message, line by line", () => {
    const args = { output: ["a\u0007", 5, "x".repeat(5000)] };
    expect(formatProblem({ code, severity, message, hint: "Fix it.", args }).split("\n").slice(1)).toEqual([
      "  The name is not allowed.",
      "    a\\u{0007}",
      "    5",
      `    ${"x".repeat(4096)}… (904 more characters)`,
      "  hint: Fix it.",
    ]);
    for (const other of [null, "output", { output: "a" }, { lines: ["a"] }])
      expect(formatProblem({ code, severity, message, args: other }).split("\n")).toHaveLength(2);
  });
});
