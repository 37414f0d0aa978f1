import { statSync } from "node:fs";
import { resolve } from "node:path";
import { failure, hasErrors, type Problem, printable, quote, TrailblazeError } from "../../problems/index.ts";
import { findWorkspacePacks } from "../../validate/find-target.ts";
import { type DetailedReport, validateTarget } from "../../validate/validate-target.ts";
import { askForYes, requireTerminal } from "../ask.ts";
import type { Command, CommandAnswer, CommandInput } from "../command.ts";
import { exitCodeOfFailure, exitCodeOfProblems } from "../exit-code.ts";
import { withSignals } from "../interruption.ts";
import {
  choice,
  flag,
  inspectionOptions,
  readInspectionOptions,
  textOf,
  texts,
  textsOf,
} from "../options.ts";
import { formatJson, output } from "../output.ts";
import {
  findReportBase,
  formatGithub,
  formatPretty,
  type ReportFormat,
  reportFormats,
} from "../report-formats.ts";

export const command: Command = {
  summary: "Check packs for problems",
  usage: "[folder|pack...]",
  options: {
    "as-installed": flag("Also pack and install the pack in a temporary project, and run its code there"),
    with: texts("TARBALL", "With --as-installed: also install this tarball (repeatable)"),
    offline: flag("With --as-installed: install only from npm's cache"),
    yes: { ...flag("Skip the confirmation prompt of --as-installed"), short: "y" },
    workspaces: flag("Check every pack of the workspace"),
    format: choice("FORMAT", reportFormats, "Output format: pretty (default), json or github"),
    ...inspectionOptions,
  },
  run,
};

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

/** Asks before code of the packs runs. Throws `InvalidArguments` without a terminal, `InstallFailed` if the answer is no. */
async function confirmAsInstalled({ options }: CommandInput, signal: AbortSignal): Promise<void> {
  if (options.yes === true) return;
  requireTerminal("confirmation", "Pass --yes to run the pack's code without confirmation.");
  output.note(
    "This installs the pack and its dependencies in a temporary project, imports its modules and starts its servers.",
  );
  if (await askForYes("Run code of the pack?", signal)) return;
  const reason = signal.aborted ? "it was interrupted" : "it was not confirmed";
  throw failure("InstallFailed", { what: "validate the pack as installed", reason });
}

/** Absolute paths of the tarballs of --with. Throws `InvalidArguments` for a path that is not one: npm would read it as a folder. */
function findTarballs({ options, cwd }: CommandInput): string[] {
  return (textsOf(options.with) ?? []).map((path) => {
    const tarball = resolve(cwd, path);
    const isFile = statSync(tarball, { throwIfNoEntry: false })?.isFile() === true;
    if (isFile && /\.(?:tgz|tar|tar\.gz)$/i.test(tarball)) return tarball;
    const hint = "Pass the path of a tarball that `npm pack` created.";
    const reason = `--with: ${quote(path, 400)} is not a ${isFile ? "tarball" : "file"}`;
    throw failure("InvalidArguments", { reason, hint });
  });
}

/**
 * Adds the problems of an installation to the reports of packs. An installation that fails is a problem of its pack, so that
 * no other result is lost; for a single valid pack it is thrown.
 */
async function addAsInstalled(
  input: CommandInput,
  details: readonly DetailedReport[],
  isOne: boolean,
): Promise<void> {
  const { options } = input;
  const tarballs = findTarballs(input);
  const { validateAsInstalled } = await import("../../as-installed/validate-as-installed.ts");
  await withSignals(async (signal) => {
    await confirmAsInstalled(input, signal);
    for (const { report, location } of details) {
      const isPack = !report.problems.some(({ code }) => code === "NoExtension");
      if (report.pack === null || !isPack) continue;
      const found = await validateAsInstalled(location, report.pack, {
        tarballs,
        offline: options.offline === true,
        requireConfinement: options["require-confinement"] === true,
        signal,
        onCommand: (command) => output.note(`Running ${printable(command)}`),
      }).catch((error: unknown) => {
        const isLost = isOne && report.ok;
        if (isLost || signal.aborted || !(error instanceof TrailblazeError)) throw error;
        if (error.code !== "InstallFailed") throw error;
        return [error.problem];
      });
      report.problems.push(...found);
      report.ok &&= found.length === 0;
    }
  });
}

async function run(input: CommandInput): Promise<CommandAnswer> {
  const { options, cwd } = input;
  const format = (textOf(options.format) ?? "pretty") as ReportFormat;
  const unused = ["with", "offline", "yes"].find((name) => options[name] !== undefined);
  if (unused !== undefined && options["as-installed"] !== true) {
    const hint = "Add --as-installed, or remove the option.";
    throw failure("InvalidArguments", { reason: `--${unused} requires --as-installed`, hint });
  }
  const { targets, problems: found } = await findTargets(input);
  const isOne = targets.length === 1 && options.workspaces !== true;
  const strict = options.strict === true;
  const problems: Problem[] = [...found];
  const details: DetailedReport[] = [];
  for (const target of targets) {
    try {
      details.push(await validateTarget(target, { ...readInspectionOptions(input), strict }));
    } catch (error) {
      // A missing target hides no other; arguments that no run can use end the command.
      if (isOne || !(error instanceof TrailblazeError) || exitCodeOfFailure(error) === 2) throw error;
      problems.push(error.problem);
    }
  }
  if (options["as-installed"] === true) await addAsInstalled(input, details, isOne);
  const reports = details.map(({ report }) => report);
  const ok = reports.every((report) => report.ok) && !hasErrors(problems) && !(strict && problems.length > 0);
  const json = isOne ? reports[0] : { ok, reports, problems };
  return {
    json,
    formatText(style) {
      if (format === "json") return formatJson(json);
      if (format === "pretty")
        return details.map((detailed) => formatPretty(detailed, style, !isOne)).join("\n\n");
      const texts = details.map((detailed) => formatGithub(detailed, findReportBase(detailed.location, cwd)));
      return texts.filter((text) => text !== "").join("\n");
    },
    // The text has those of the reports.
    problems,
    exitCode: ok ? 0 : isOne ? exitCodeOfProblems(reports[0]?.problems ?? [], true) : 1,
    isDocument: format !== "pretty",
  };
}
