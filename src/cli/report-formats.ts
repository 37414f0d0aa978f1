import { existsSync, realpathSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { ancestorsOf } from "../discovery/project.ts";
import type { Problem } from "../problems/index.ts";
import { fileOfPosition } from "../problems/index.ts";
import { countOf, printable } from "../problems/text.ts";
import type { DetailedReport } from "../validate/validate-target.ts";
import type { TextStyle } from "./command.ts";
import { disarmCommands } from "./output.ts";
import { formatProblemText } from "./problem-text.ts";

/** Longer lines, such as minified JSON, are cut around the column. */
const maximumWidth = 100;

/**
 * A line of a text, the line before it, and a caret below the column. `line` and `column` count from 1. Unprintable
 * characters are escaped. Returns "" if the text has no such line.
 */
export function formatCodeFrame(text: string, line: number, column: number): string {
  const lines = text.split(/\r\n|\r|\n/);
  if (lines[line - 1] === undefined) return "";
  const gutter = String(line).length;
  const start = Math.max(0, column - 1 - maximumWidth / 2);
  const show = (number: number, end = start + maximumWidth) =>
    printable((lines[number - 1] ?? "").slice(start, end).replaceAll("\t", "  "));
  const row = (mark: string, number: number) =>
    `  ${mark} ${String(number).padStart(gutter)} | ${show(number)}`.trimEnd();
  const caret = `    ${" ".repeat(gutter)} | ${" ".repeat([...show(line, column - 1)].length)}^`;
  return [...(line > 1 ? [row(" ", line - 1)] : []), row(">", line), caret].join("\n");
}

export const reportFormats = ["pretty", "json", "github"] as const;
export type ReportFormat = (typeof reportFormats)[number];

const count = (problems: readonly Problem[], severity: Problem["severity"]): string =>
  countOf(problems.filter((problem) => problem.severity === severity).length, severity);

/** Formats each problem with its line, and with its pack if there are several; then a summary. */
export function formatPretty(
  { report, texts }: DetailedReport,
  style: TextStyle,
  isOneOfSeveral = false,
): string {
  const { ok, pack, version, problems } = report;
  const blocks = problems.map((problem) => {
    const { pack: _, ...withoutPack } = problem;
    const place = isOneOfSeveral ? problem : withoutPack;
    const file = fileOfPosition(problem);
    const text = file === undefined ? undefined : texts.get(file);
    const frame =
      text === undefined || problem.line === undefined
        ? ""
        : formatCodeFrame(text, problem.line, problem.column ?? 1);
    return `${formatProblemText(place, style)}${frame === "" ? "" : `\n${frame}`}\n`;
  });
  const name = printable(`${pack ?? "The package"} ${version ?? ""}`.trimEnd());
  const counts = `${count(problems, "error")}, ${count(problems, "warning")}`;
  return [...blocks, `${name} is ${ok ? "valid" : "invalid"}: ${counts}`].join("\n");
}

/**
 * The folder to which paths in a report for machines are relative: `GITHUB_WORKSPACE`, links followed, if it contains the pack,
 * otherwise the root of the pack's repository, or `cwd` outside a repository.
 */
export function findReportBase(location: string, cwd: string): string {
  const path = process.env.GITHUB_WORKSPACE;
  const workspace = path && existsSync(path) ? realpathSync(path) : undefined;
  const folders = [...ancestorsOf(location)];
  if (workspace !== undefined && folders.includes(workspace)) return workspace;
  return folders.find((folder) => existsSync(join(folder, ".git"))) ?? cwd;
}

/** Workflow commands of GitHub Actions, which annotate lines of a pull request. */
export function formatGithub({ report, location }: DetailedReport, base: string): string {
  const levels = { error: "error", warning: "warning", info: "notice" } as const;
  const escapeData = (text: string) => disarmCommands(printable(text)).replaceAll("%", "%25");
  const escapeProperty = (text: string) => escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
  return report.problems
    .map((problem) => {
      const { code, severity, message, hint, line, column } = problem;
      const file = fileOfPosition(problem);
      const path = file && relative(base, join(location, file)).split(sep).join("/");
      const properties = { file: path && escapeProperty(path), line, col: column, title: code };
      const given = Object.entries(properties).filter(([, value]) => value !== undefined);
      const words = hint === undefined ? message : `${message} ${hint}`;
      return `::${levels[severity]} ${given.map((entry) => entry.join("=")).join(",")}::${escapeData(words)}`;
    })
    .join("\n");
}
