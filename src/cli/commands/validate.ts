import { closeSync, openSync, readSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { failure, hasErrors, type Problem, printable, quote, TrailblazeError } from "../../problems/index.ts";
import { findWorkspacePacks } from "../../validate/find-target.ts";
import { type DetailedReport, validateTarget } from "../../validate/validate-target.ts";
import { askForYes, requireTerminal } from "../ask.ts";
import type { Command, CommandAnswer, CommandInput } from "../command.ts";
import { exitCodeOfFailure, exitCodeOfProblems } from "../exit-code.ts";
import { withSignals } from "../interruption.ts";
import { choice, flag, inspectionOptions, readInspectionOptions, textOf, texts } from "../options.ts";
import { formatJson, output } from "../output.ts";
import { findReportBase } from "../report/report-base.ts";
import { formatGithub, formatPretty, type ReportFormat, reportFormats } from "../report/report-formats.ts";

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

/** Whether a file starts with the signature of gzip, or is an uncompressed tar archive. */
function isTarball(file: string): boolean {
  // npm would read a file with any other name as a folder.
  if (!/\.(?:tgz|tar|tar\.gz)$/i.test(file)) return false;
  const start = Buffer.alloc(262);
  const handle = openSync(file, "r");
  try {
    readSync(handle, start);
  } finally {
    closeSync(handle);
  }
  return (start[0] === 0x1f && start[1] === 0x8b) || start.toString("latin1", 257) === "ustar";
}

/** Absolute paths of the tarballs of --with. Throws `InvalidArguments` for a path that is not a tarball. */
function findTarballs({ options, cwd }: CommandInput): string[] {
  return ((options.with ?? []) as string[]).map((path) => {
    const tarball = resolve(cwd, path);
    const isFile = statSync(tarball, { throwIfNoEntry: false })?.isFile() === true;
    if (isFile && isTarball(tarball)) return tarball;
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
      const detailed = await validateTarget(target, {
        ...readInspectionOptions(input),
        strict,
      });
      details.push(detailed);
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
      switch (format) {
        case "json":
          return formatJson(json);
        case "github":
          return details
            .map((detailed) => formatGithub(detailed, findReportBase(detailed.location, cwd)))
            .filter((text) => text !== "")
            .join("\n");
        case "pretty":
          return details.map((detailed) => formatPretty(detailed, style, !isOne)).join("\n\n");
      }
    },
    // The text has those of the reports.
    problems,
    exitCode: ok ? 0 : isOne ? exitCodeOfProblems(reports[0]?.problems ?? [], true) : 1,
    isDocument: format !== "pretty",
  };
}
