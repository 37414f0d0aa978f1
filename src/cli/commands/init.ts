import { existsSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { createPack } from "../../author/init-pack.ts";
import { applyEdits, readTextFile } from "../../files/edit.ts";
import { describePack } from "../../pages/describe-packs.ts";
import { formatPackDocs, replaceDocsSection } from "../../pages/markdown.ts";
import { failure, printable } from "../../problems/index.ts";
import { quoteForShell } from "../../problems/text.ts";
import { defineCommand } from "../command.ts";
import { flag, text } from "../options.ts";

export const command = defineCommand({
  summary: "Create a pack in an empty folder",
  usage: "[folder]",
  options: {
    name: text("NAME", "npm name of the pack (default: derived from the folder)"),
    template: text("TEMPLATE", "Template: data (default), typescript, server, composed or bundle"),
    yes: { ...flag("Accepted for scripts; init never asks"), short: "y" },
  },
  async run({ positionals, options, cwd }) {
    if (!existsSync(cwd)) throw failure("ProjectNotFound", { directory: resolve(cwd), exists: false });
    const { nextSteps, ...made } = createPack(resolve(cwd, positionals[0] ?? "."), {
      name: options.name,
      template: options.template,
    });
    // As `trailblaze docs --write README.md` does.
    const file = join(made.directory, "README.md");
    const before = readTextFile(file) ?? "";
    const markdown = formatPackDocs(await describePack(undefined, { cwd: made.directory }), 2);
    applyEdits([{ file, before, after: replaceDocsSection(before, markdown, "README.md") }]);
    const path = printable(relative(cwd, made.directory));
    const folder = path === "" ? basename(made.directory) : path;
    const lines = [
      `Created ${made.name} in ${printable(folder)} from the template ${made.template}:`,
      ...made.files.map((name) => `  ${name}`),
      "",
      "Next steps:",
      ...[...(path === "" ? [] : [`cd ${quoteForShell(path)}`]), ...nextSteps].map((step) => `  ${step}`),
    ];
    return { json: made, formatText: () => lines.join("\n"), problems: [] };
  },
});
