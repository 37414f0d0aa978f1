// Text on terminals of several widths.
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { command as install } from "../../src/cli/commands/install.ts";
import { formatCommandHelp, formatHelp } from "../../src/cli/help.ts";
import { abbreviateHome, formatTable, measureWidth, wrap } from "../../src/cli/layout.ts";
import { formatProblemText } from "../../src/cli/problem-text.ts";
import { formatCodeFrame } from "../../src/cli/report/report-formats.ts";

const widest = (text: string) => Math.max(...text.split("\n").map(measureWidth));
/** A text without what wrapping changes: white space. */
const squeeze = (text: string) => text.replace(/\s+/g, "");

test.each([
  ["abc", 3],
  ["日本語", 6],
  ["한국어", 6],
  ["ｆｕｌｌ", 8],
  ["🧭 e\u0301", 4],
  ["\u001b[1mbold\u001b[22m", 4],
])("the text %j takes %i columns", (text, width) => {
  expect(measureWidth(text)).toBe(width);
});

describe("wrapping", () => {
  test("wrapping breaks at spaces and indents every line except the first", () => {
    expect(wrap("  one two three four", 10, 4)).toBe("  one two\n    three\n    four");
  });

  test("text stays on one line if the width is unknown", () => {
    expect(wrap("one two three", undefined)).toBe("one two three");
  });

  test("wrapping keeps paths and commands in backticks whole", () => {
    expect(wrap("Run `npm install x` in /a/path/that/is/long.", 15)).toBe(
      "Run\n`npm install x`\nin\n/a/path/that/is/long.",
    );
  });

  test("wrapping can break between wide characters", () => {
    expect(wrap("日本語のテキスト", 6)).toBe("日本語\nのテキ\nスト");
  });
});

describe.each([80, 120])("on a terminal of %i columns", (width) => {
  const style = { color: false, width };
  const words = "a description of several words ".repeat(12).trim();
  const rows = [
    ["acme/jira/createIssue", "1.2.0", words],
    ["日本語/課題", "1.0.0", "課題を作成します。".repeat(20)],
    ["x/y", "1.0.0", "w".repeat(300)],
  ];

  test("a table keeps its columns aligned and wraps the last one without losing text", () => {
    const table = formatTable(["NAME", "VERSION", "DESCRIPTION"], rows, style);
    expect(widest(table)).toBeLessThanOrEqual(width);
    const [head = "", ...lines] = table.split("\n");
    const column = head.indexOf("DESCRIPTION");
    const cells = lines.map((line) => ({ isFirst: line.trimStart() === line, line }));
    for (const { isFirst, line } of cells) {
      if (!isFirst) expect(line.search(/\S/)).toBe(column);
    }
    expect(cells.filter(({ isFirst }) => isFirst)).toHaveLength(rows.length);
    expect(squeeze(table)).toBe(squeeze(["NAME", "VERSION", "DESCRIPTION", ...rows.flat()].join("")));
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

  test("a code frame shows the column of the problem", () => {
    const text = `{ "a": ${"x".repeat(300)}, "here": 1 }`;
    const column = text.indexOf("here");
    const [line = "", caret = ""] = formatCodeFrame(text, 1, column + 1, width).split("\n");
    expect(line.length).toBeLessThanOrEqual(width);
    expect(line.slice(caret.indexOf("^"))).toMatch(/^here/);
  });

  test("the message and the hint of a problem are wrapped and indented", () => {
    const problem = { code: "InvalidArguments", severity: "error", message: words, hint: words } as const;
    const [, ...lines] = formatProblemText(problem, { color: true, width }).split("\n");
    expect(widest(lines.join("\n"))).toBeLessThanOrEqual(width);
    const hint = lines.findIndex((line) => line.includes("hint:"));
    for (const line of lines.slice(0, hint)) expect(line.search(/\S/)).toBe(2);
    for (const line of lines.slice(hint + 1)) expect(line.search(/\S/)).toBe(8);
    expect(lines.length).toBeGreaterThan(hint + 1);
  });
});

describe("the home folder", () => {
  const home = homedir();

  test("the home folder is shown as ~ in text", () => {
    expect(abbreviateHome(`In "${home}", ${join(home, "a")} and ${home}.`)).toBe(
      `In "~", ${join("~", "a")} and ~.`,
    );
  });

  test.each([`${home}er`, `/backup${home}`, `${home}.old`, `${home}-2/a`])(
    "the path %s is not shortened, although it contains the home folder's path",
    (path) => {
      expect(abbreviateHome(path)).toBe(path);
    },
  );

  test("the home folder is not shortened in hints, which contain commands", () => {
    const problem = { code: "InvalidArguments", severity: "error", message: home, hint: home } as const;
    expect(formatProblemText(problem, { color: false, width: undefined })).toBe(
      `error InvalidArguments\n  ~\n  hint: ${home}`,
    );
  });
});
