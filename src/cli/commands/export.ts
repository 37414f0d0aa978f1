import { resolve } from "node:path";
import { type ExportPlan, formatEdit, planExport } from "../../author/exports.ts";
import { applyEdits, isChange } from "../../files/edit.ts";
import { describePack } from "../../pages/describe-packs.ts";
import { hasErrors, printable, printableLines } from "../../problems/index.ts";
import { validateTarget } from "../../validate/validate-target.ts";
import { defineCommand } from "../command.ts";
import { flag, inspectionOptions, readInspectionOptions, text } from "../options.ts";

export const command = defineCommand({
  summary: "Write a server of the pack as a command, a plugin or an entry of a registry",
  usage: "<bin|agent-plugin|claude-plugin|server.json> [server]",
  options: {
    out: text("DIR", "Write to this folder instead of the package"),
    name: text("NAME", "Name of the plugin"),
    description: text("TEXT", "Description instead of package.json's"),
    "dry-run": flag("Print what would change; write nothing"),
    check: flag("Fail if a file is missing or differs; write nothing"),
    force: flag("Replace files with other contents"),
    ...inspectionOptions,
  },
  async run(input) {
    const { positionals, options, cwd } = input;
    const [format = "", server] = positionals;
    const inspection = readInspectionOptions(input);
    const pack = await describePack(undefined, inspection);
    const out = options.out;
    const { report } = await validateTarget(pack.pack.location, inspection);
    if (hasErrors(report.problems)) {
      const { problems } = report;
      return {
        json: { format, server: server ?? null, files: [], problems },
        formatText: () => "Nothing was exported, because the pack is invalid.",
        problems,
        exitCode: 1,
      };
    }
    const plan = planExport(pack, format, server, {
      name: options.name,
      description: options.description,
      out: out === undefined ? undefined : resolve(cwd, out),
      force: options.force,
    });
    const isCheck = options.check;
    const mode = isCheck ? "check" : options["dry-run"] ? "dry-run" : "write";
    const edits = plan.files.map(({ edit }) => edit);
    if (mode === "write") applyEdits(edits, { makesFolders: true });
    const { problems } = plan;
    const files = plan.files.map((one) => {
      return { file: one.shown, changed: isChange(one.edit), diff: formatEdit(one) };
    });
    return {
      json: { format, server: plan.server, files, problems },
      formatText: () => formatPlan(plan, mode),
      problems,
      exitCode: isCheck && files.some(({ changed }) => changed) ? 1 : undefined,
    };
  },
});

function formatPlan({ files }: ExportPlan, mode: "check" | "dry-run" | "write"): string {
  const changed = files.filter(({ edit }) => isChange(edit));
  if (mode === "dry-run") return changed.map((one) => printableLines(formatEdit(one).trimEnd())).join("\n");
  const words = (isChanged: boolean) =>
    mode === "check" ? (isChanged ? "is out of date" : "is up to date") : isChanged ? "written" : "unchanged";
  return files.map(({ shown, edit }) => printable(`${shown}: ${words(isChange(edit))}`)).join("\n");
}
