import { existsSync, realpathSync, statSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { ancestorsOf } from "../../discovery/project.ts";
import {
  failure,
  fileOfPosition,
  hasErrors,
  type Problem,
  printable,
  quote,
  TrailblazeError,
} from "../../problems/index.ts";
import { type DetailedReport, findWorkspacePacks, validateTarget } from "../../validate/validate-target.ts";
import { askForYes, requireTerminal } from "../ask.ts";
import { type CommandAnswer, type CommandInput, defineCommand } from "../command.ts";
import { exitCodeOfFailure, exitCodeOfProblems } from "../exit-code.ts";
import { inspectionOptions, readInspectionOptions } from "../inspection-options.ts";
import { catchSignals } from "../interruption.ts";
import { choice, flag, texts } from "../options.ts";
import { disarmCommands, formatJson, output } from "../output.ts";
import { formatReport } from "../problem-text.ts";

const options = {
  "as-installed": flag("Also pack and install the pack in a temporary project, and run its code there"),
  with: {
    ...texts("TARBALL", "With --as-installed: also install this tarball (repeatable)"),
    needs: ["as-installed"],
  },
  offline: { ...flag("With --as-installed: install only from npm's cache"), needs: ["as-installed"] },
  yes: {
    ...flag("Skip the confirmation prompt of --as-installed"),
    short: "y",
    needs: ["as-installed"],
  },
  workspaces: flag("Check every pack of the workspace"),
  format: choice("FORMAT", ["pretty", "json", "github"], "Output format: pretty (default), json or github"),
  ...inspectionOptions,
};

type Input = CommandInput<typeof options>;

export const command = defineCommand({
  summary: "Check packs for problems",
  usage: "[folder|pack...]",
  options,
  run,
});

/**
 * Adds the problems of an installation to the reports of packs. An installation that fails is a problem of its pack, so that
 * no other result is lost; for a single valid pack it is thrown. Asks before code of the packs runs: throws `InvalidArguments`
 * without a terminal, `InstallFailed` if the answer is no.
 */
async function addAsInstalled(input: Input, details: readonly DetailedReport[], isOne: boolean) {
  const { options, cwd } = input;
  const tarballs = (options.with ?? []).map((path) => {
    const tarball = resolve(cwd, path);
    const isFile = statSync(tarball, { throwIfNoEntry: false })?.isFile();
    // npm would take another path for a folder.
    if (isFile && /\.(?:tgz|tar|tar\.gz)$/i.test(tarball)) return tarball;
    const hint = "Pass the path of a tarball that `npm pack` created.";
    throw failure("InvalidArguments", { reason: `--with: ${quote(path, 400)} is not a tarball`, hint });
  });
  const { validateAsInstalled } = await import("../../as-installed/validate-as-installed.ts");
  const { serverNotes } = await import("../session/session-command.ts");
  const signal = await catchSignals(input);
  if (!options.yes) {
    requireTerminal("confirmation", "Pass --yes to run the pack's code without confirmation.");
    const what = "installs the pack in a temporary project, imports its modules and starts its servers";
    if (!(await askForYes(`This ${what}. Run code of the pack?`, signal))) {
      const reason = signal.aborted ? "it was interrupted" : "it was not confirmed";
      throw failure("InstallFailed", { what: "validate the pack as installed", reason });
    }
  }
  for (const { report, location } of details) {
    const isPack = !report.problems.some(({ code }) => code === "NoExtension");
    if (report.pack === null || !isPack) continue;
    const found = await validateAsInstalled(location, report.pack, {
      tarballs,
      offline: options.offline,
      requireConfinement: options["require-confinement"],
      signal,
      ...serverNotes,
      onInstall: (command) => output.note(`Running ${printable(command)}`),
    }).catch((error: unknown) => {
      const isLost = isOne && report.ok;
      if (isLost || signal.aborted || !(error instanceof TrailblazeError)) throw error;
      if (error.code !== "InstallFailed") throw error;
      return [error.problem];
    });
    report.problems.push(...found);
    report.ok &&= found.length === 0;
  }
}

/**
 * The folder to which paths in a report for machines are relative: `GITHUB_WORKSPACE`, links followed, if it contains the pack,
 * otherwise the root of the pack's repository, or `cwd` outside a repository.
 */
function findReportBase(location: string, cwd: string): string {
  const path = process.env.GITHUB_WORKSPACE;
  const workspace = path && existsSync(path) ? realpathSync(path) : undefined;
  const folders = [...ancestorsOf(location)];
  if (workspace !== undefined && folders.includes(workspace)) return workspace;
  return folders.find((folder) => existsSync(join(folder, ".git"))) ?? cwd;
}

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

async function run(input: Input): Promise<CommandAnswer> {
  const { positionals, options, cwd } = input;
  const { format = "pretty", strict, workspaces } = options;
  if (workspaces && positionals.length > 0) {
    const hint = "Pass either targets or --workspaces.";
    throw failure("InvalidArguments", { reason: "--workspaces selects the targets itself", hint });
  }
  const members = workspaces ? await findWorkspacePacks(cwd) : undefined;
  const targets = members?.folders ?? (positionals.length === 0 ? ["."] : positionals);
  const isOne = targets.length === 1 && !workspaces;
  const problems: Problem[] = [...(members?.problems ?? [])];
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
  if (options["as-installed"]) await addAsInstalled(input, details, isOne);
  const reports = details.map(({ report }) => report);
  const ok = reports.every((report) => report.ok) && !hasErrors(problems) && !(strict && problems.length > 0);
  const json = isOne ? reports[0] : { ok, reports, problems };
  return {
    json,
    formatText(style) {
      if (format === "json") return formatJson(json);
      if (format === "pretty")
        return reports.map((report) => formatReport(report, style, !isOne)).join("\n\n");
      const texts = details.map((detailed) => formatGithub(detailed, findReportBase(detailed.location, cwd)));
      return texts.filter((text) => text !== "").join("\n");
    },
    // The text has those of the reports.
    problems,
    exitCode: ok ? 0 : isOne ? exitCodeOfProblems(reports[0]?.problems ?? [], true) : 1,
    isDocument: format !== "pretty",
  };
}
