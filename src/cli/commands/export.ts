import { resolve } from "node:path";
import { describePack } from "../../author/docs/describe-pack.ts";
import { applyExport, type ExportPlan, planExport } from "../../author/exports/plan-export.ts";
import { hasErrors, printable, printableLines } from "../../problems/index.ts";
import { validateTarget } from "../../validate/validate-target.ts";
import type { CommandAnswer, CommandInput } from "../command.ts";
import { readNames } from "../command.ts";

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

function formatPlan({ files }: ExportPlan, mode: "check" | "dry-run" | "write"): string {
  const changed = files.filter((one) => one.changed);
  if (mode === "dry-run") return changed.map(({ diff }) => printableLines(diff.trimEnd())).join("\n");
  const words = (isChanged: boolean) =>
    mode === "check" ? (isChanged ? "is out of date" : "is up to date") : isChanged ? "written" : "unchanged";
  return files.map(({ file, changed: isChanged }) => printable(`${file}: ${words(isChanged)}`)).join("\n");
}

/** Exports a server of the pack in the folder. */
export async function run({ positionals, options, cwd }: CommandInput): Promise<CommandAnswer> {
  const [format = "", server] = positionals;
  const inspection = {
    cwd,
    builtIns: readNames(options["built-ins"]),
    dataOnly: options["data-only"] === true,
    requireConfinement: options["require-confinement"] === true,
  };
  const pack = await describePack(undefined, inspection);
  const out = textOf(options.out);
  const { report } = await validateTarget(pack.found.pack.location, inspection);
  if (hasErrors(report.problems)) {
    const { problems } = report;
    return {
      json: { format, server: server ?? null, files: [], problems },
      formatText: () => "Nothing was exported, because the pack is invalid.",
      problems,
      failed: true,
    };
  }
  const plan = planExport(pack, format, server, {
    name: textOf(options.name),
    description: textOf(options.description),
    out: out === undefined ? undefined : resolve(cwd, out),
    force: options.force === true,
  });
  const isCheck = options.check === true;
  const mode = isCheck ? "check" : options["dry-run"] === true ? "dry-run" : "write";
  if (mode === "write") applyExport(plan);
  const { problems } = plan;
  const files = plan.files.map(({ file, changed, diff }) => ({ file, changed, diff }));
  return {
    json: { format, server: plan.server, files, problems },
    formatText: () => formatPlan(plan, mode),
    problems,
    failed: isCheck && files.some(({ changed }) => changed),
  };
}
