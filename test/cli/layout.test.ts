// Text on terminals of several widths.
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { command as install } from "../../src/cli/commands/install.ts";
import { formatCommandHelp, formatHelp } from "../../src/cli/help.ts";
import { abbreviateHome, formatTable, wrap } from "../../src/cli/layout.ts";
import { formatProblemText } from "../../src/cli/problem-text.ts";
import { formatCodeFrame } from "../../src/cli/report-formats.ts";

const widest = (text: string) => Math.max(...text.split("\n").map((line) => line.length));
/** A text without what wrapping changes: white space. */
const squeeze = (text: string) => text.replace(/\s+/g, "");

describe("on a terminal of 80 columns", () => {
  const width = 80;
  const words = "a description of several words ".repeat(12).trim();
  const rows = [
    ["acme/jira/createIssue", "1.2.0", words],
    ["x/y", "1.0.0", ""],
  ];

  test("wrapping keeps paths and commands in backticks whole, and indents all lines but the first", () => {
    expect(wrap("  one two three four", 10, 4)).toBe("  one two\n    three\n    four");
    expect(wrap("Run `npm install x` in /a/path/that/is/long.", 15)).toBe(
      "Run\n`npm install x`\nin\n/a/path/that/is/long.",
    );
  });

  test("a table keeps its columns aligned and wraps the last one without losing text", () => {
    const headings = ["NAME", "VERSION", "DESCRIPTION"];
    const table = formatTable(headings, rows, { color: false, width });
    expect(widest(table)).toBeLessThanOrEqual(width);
    const [head = "", first = "", second = ""] = table.split("\n");
    expect(first.indexOf("a description")).toBe(head.indexOf("DESCRIPTION"));
    expect(second.search(/\S/)).toBe(head.indexOf("DESCRIPTION"));
    expect(squeeze(table)).toBe(squeeze([...headings, ...rows.flat()].join("")));
    expect(formatTable(headings, rows, { color: false, width: undefined }).split("\n")).toHaveLength(3);
  });

  test("help is wrapped without losing text", async () => {
    for (const format of [
      (columns?: number) => formatHelp("1.0.0", columns),
      (columns?: number) => formatCommandHelp("install", install, columns),
    ]) {
      expect(widest(await format(width))).toBeLessThanOrEqual(width);
      expect(squeeze(await format(width))).toBe(squeeze(await format()));
    }
  });

  test("a code frame shows the column of the problem in a long line", () => {
    const text = `{ "a": ${"x".repeat(300)}, "here": 1 }`;
    const [line = "", caret = ""] = formatCodeFrame(text, 1, text.indexOf("here") + 1).split("\n");
    expect(line.slice(caret.indexOf("^"))).toMatch(/^here/);
  });

  test("the message and the hint of a problem are wrapped and indented", () => {
    const problem = { code: "InvalidArguments", severity: "error", message: words, hint: words } as const;
    const [, ...lines] = formatProblemText(problem, { color: false, width }).split("\n");
    expect(widest(lines.join("\n"))).toBeLessThanOrEqual(width);
    const hint = lines.findIndex((line) => line.includes("hint:"));
    expect(lines.slice(0, hint).every((line) => line.search(/\S/) === 2)).toBe(true);
    expect(lines.slice(hint + 1).every((line) => line.search(/\S/) === 8)).toBe(true);
  });
});

test("the home folder is shown as ~ in text, but not within longer paths or in hints, which contain commands", () => {
  const home = homedir();
  expect(abbreviateHome(`In "${home}", ${join(home, "a")} and ${home}.`)).toBe(
    `In "~", ${join("~", "a")} and ~.`,
  );
  for (const path of [`${home}er`, `/backup${home}`, `${home}.old`, `${home}-2/a`])
    expect(abbreviateHome(path)).toBe(path);
  const problem = { code: "InvalidArguments", severity: "error", message: home, hint: home } as const;
  expect(formatProblemText(problem, { color: false, width: undefined })).toBe(
    `error InvalidArguments\n  ~\n  hint: ${home}`,
  );
});
