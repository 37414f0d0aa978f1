import { resolve } from "node:path";
import { planExport } from "../../author/exports.ts";
import { describePack } from "../../pages/describe-packs.ts";
import { hasErrors } from "../../problems/index.ts";
import { validateTarget } from "../../validate/validate-target.ts";
import { defineCommand } from "../command.ts";
import { flag, inspectionOptions, readInspectionOptions, text } from "../options.ts";
import { writeFiles } from "../written-file.ts";

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
    const {
      server: name,
      files,
      problems,
    } = planExport(pack, format, server, {
      name: options.name,
      description: options.description,
      out: options.out === undefined ? undefined : resolve(cwd, options.out),
      force: options.force,
    });
    const written = writeFiles(files, options);
    return { ...written, json: { format, server: name, files: written.files, problems }, problems };
  },
});
