import type { Problem } from "../../problems/index.ts";
import { printable } from "../../problems/text.ts";
import { type ValidationReport, validateExtension } from "../../validate/index.ts";
import type { CommandAnswer, CommandInput } from "../command.ts";

function count(problems: readonly Problem[], severity: Problem["severity"], word: string): string {
  const number = problems.filter((problem) => problem.severity === severity).length;
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}

function formatReport({ ok, pack, version, problems }: ValidationReport): string {
  const name = printable(`${pack ?? "The package"} ${version ?? ""}`.trimEnd());
  const counts = `${count(problems, "error", "error")}, ${count(problems, "warning", "warning")}`;
  return `${name}: ${ok ? "valid" : "not valid"} (${counts})`;
}

function readList(value: unknown): string[] {
  if (typeof value !== "string") return [];
  return value
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

export async function run({ positionals, options, cwd }: CommandInput): Promise<CommandAnswer> {
  const [target = "."] = positionals;
  const report = await validateExtension(target, {
    cwd,
    builtIns: readList(options["built-ins"]),
    strict: options.strict === true,
    dataOnly: options["data-only"] === true,
    requireConfinement: options["require-confinement"] === true,
  });
  return {
    json: report,
    formatText: () => formatReport(report),
    problems: report.problems,
    failed: !report.ok,
  };
}
