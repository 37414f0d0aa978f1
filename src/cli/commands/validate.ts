import { projectHome } from "../../home.ts";
import { failure, quote } from "../../problems/index.ts";
import { validateTarget } from "../../validate/validate-target.ts";
import { hostVersion } from "../../version.ts";
import type { CommandAnswer, CommandInput } from "../command.ts";
import { readNames } from "../command.ts";
import { formatJson } from "../output.ts";
import {
  formatGithub,
  formatPretty,
  formatSarif,
  type ReportFormat,
  reportFormats,
} from "../report/report-formats.ts";

function readFormat(value: unknown): ReportFormat {
  const format = reportFormats.find((one) => one === (value ?? "pretty"));
  if (format !== undefined) return format;
  const hint = `Pass one of ${reportFormats.join(", ")}.`;
  throw failure("InvalidArguments", { reason: `Unknown format ${quote(String(value))}`, hint });
}

export async function run({ positionals, options, cwd }: CommandInput): Promise<CommandAnswer> {
  const format = readFormat(options.format);
  const [target = "."] = positionals;
  const detailed = await validateTarget(target, {
    cwd,
    builtIns: readNames(options["built-ins"]),
    strict: options.strict === true,
    dataOnly: options["data-only"] === true,
    requireConfinement: options["require-confinement"] === true,
  });
  const { report } = detailed;
  const sarif =
    format === "sarif" ? formatJson(await formatSarif(detailed, cwd, hostVersion, projectHome)) : "";
  return {
    json: report,
    formatText(style) {
      switch (format) {
        case "json":
          return formatJson(report);
        case "github":
          return formatGithub(detailed, cwd);
        case "sarif":
          return sarif;
        case "pretty":
          return formatPretty(detailed, style);
      }
    },
    problems: report.problems,
    isDocument: format !== "pretty",
    problemsAreInText: true,
    failed: !report.ok,
  };
}
