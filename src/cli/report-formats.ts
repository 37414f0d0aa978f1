import { existsSync, realpathSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { ancestorsOf } from "../discovery/project.ts";
import type { Problem } from "../problems/index.ts";
import { fileOfPosition } from "../problems/index.ts";
import { countOf, printable } from "../problems/text.ts";
import type { DetailedReport, ValidationReport } from "../validate/validate-target.ts";
import type { TextStyle } from "./command.ts";
import { disarmCommands } from "./output.ts";
import { formatProblemText } from "./problem-text.ts";

const count = (problems: readonly Problem[], severity: Problem["severity"]): string =>
  countOf(problems.filter((problem) => problem.severity === severity).length, severity);

/** Formats each problem, with its pack if there are several; then a summary. */
export function formatPretty(
  { ok, pack, version, problems }: ValidationReport,
  style: TextStyle,
  isOneOfSeveral = false,
): string {
  const blocks = problems.map((problem) => {
    const { pack: _, ...withoutPack } = problem;
    return `${formatProblemText(isOneOfSeveral ? problem : withoutPack, style)}\n`;
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
