import { projectHome } from "../../home.ts";
import { failure, hasErrors, type Problem, quote, TrailblazeError } from "../../problems/index.ts";
import { findWorkspacePacks } from "../../validate/find-workspace-packs.ts";
import { type DetailedReport, validateTarget } from "../../validate/validate-target.ts";
import { hostVersion } from "../../version.ts";
import type { CommandAnswer, CommandInput } from "../command.ts";
import { readNames } from "../command.ts";
import { exitCodeOfFailure } from "../exit-code.ts";
import { formatJson } from "../output.ts";
import { findReportBase } from "../report/report-base.ts";
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

async function findTargets({ positionals, options, cwd }: CommandInput) {
  if (options.workspaces !== true)
    return { targets: positionals.length === 0 ? ["."] : positionals, problems: [] };
  if (positionals.length > 0) {
    const hint = "Pass either targets or --workspaces.";
    throw failure("InvalidArguments", { reason: "--workspaces selects the targets itself", hint });
  }
  const { folders, problems } = await findWorkspacePacks(cwd);
  return { targets: folders, problems };
}

export async function run(input: CommandInput): Promise<CommandAnswer> {
  const { options, cwd } = input;
  const format = readFormat(options.format);
  const { targets, problems: found } = await findTargets(input);
  const isOne = targets.length === 1 && options.workspaces !== true;
  const strict = options.strict === true;
  const problems: Problem[] = [...found];
  const details: DetailedReport[] = [];
  for (const target of targets) {
    try {
      const detailed = await validateTarget(target, {
        cwd,
        builtIns: readNames(options["built-ins"]),
        strict,
        dataOnly: options["data-only"] === true,
        requireConfinement: options["require-confinement"] === true,
      });
      details.push(detailed);
    } catch (error) {
      // A missing target hides no other; arguments that no run can use end the command.
      if (isOne || !(error instanceof TrailblazeError) || exitCodeOfFailure(error) === 2) throw error;
      problems.push(error.problem);
    }
  }
  const reports = details.map(({ report }) => report);
  const ok = reports.every((report) => report.ok) && !hasErrors(problems) && !(strict && problems.length > 0);
  const json = isOne ? reports[0] : { ok, reports, problems };
  const baseOf = (location: string) => findReportBase(location, cwd, !isOne);
  const sarif =
    format === "sarif" ? formatJson(await formatSarif(details, baseOf, hostVersion, projectHome)) : "";
  return {
    json,
    formatText(style) {
      switch (format) {
        case "json":
          return formatJson(json);
        case "github":
          return details
            .map((detailed) => formatGithub(detailed, baseOf(detailed.location)))
            .filter((text) => text !== "")
            .join("\n");
        case "sarif":
          return sarif;
        case "pretty":
          return details.map((detailed) => formatPretty(detailed, style, !isOne)).join("\n\n");
      }
    },
    problems: isOne ? (reports[0]?.problems ?? []) : problems,
    problemsAreInText: isOne,
    problemsAreAside: !isOne,
    isDocument: format !== "pretty",
    failed: !ok,
  };
}
