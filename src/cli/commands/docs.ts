import { resolve } from "node:path";
import { planEdit, readTextFile } from "../../files/edit.ts";
import { describePack } from "../../pages/describe-packs.ts";
import { formatPackDocs, replaceDocsSection } from "../../pages/markdown.ts";
import { defineCommand } from "../command.ts";
import { choice, flag, inspectionOptions, readInspectionOptions, text } from "../options.ts";
import { writeFiles } from "../written-file.ts";

export const command = defineCommand({
  summary: "Document a pack as Markdown, without running it",
  usage: "[pack]",
  options: {
    out: { ...text("FILE", "Write to this file instead of stdout"), excludes: ["write"] },
    write: text("FILE", "Write between <!-- trailblaze:docs --> and <!-- /trailblaze:docs --> of this file"),
    check: {
      ...flag("Fail if the file given with --out or --write is out of date; write nothing"),
      needs: ["out", "write"],
    },
    level: choice("NUMBER", ["1", "2", "3", "4", "5"], "Level of the top headings (default: 2)"),
    ...inspectionOptions,
  },
  async run(input) {
    const { positionals, options, cwd } = input;
    const pack = await describePack(positionals[0], readInspectionOptions(input));
    const problems = [...pack.pack.problems, ...pack.problems, ...pack.ofReferences];
    const markdown = formatPackDocs(pack, Number(options.level ?? 2));
    // A broken pack is documented as far as it can be.
    const exitCode = options.strict ? undefined : 0;
    const { out, write, check } = options;
    const path = out ?? write;
    if (path === undefined)
      return { json: { markdown, problems }, formatText: () => markdown.trimEnd(), problems, exitCode };
    const file = resolve(cwd, path);
    const before = readTextFile(file) ?? "";
    const edit =
      write === undefined
        ? planEdit(file, markdown)
        : { file, before, after: replaceDocsSection(before, markdown, path) };
    const written = writeFiles([{ shown: path, edit }], { check });
    const json = { files: written.files, problems };
    return { ...written, json, problems, exitCode: written.exitCode ?? exitCode };
  },
});
