import { resolve } from "node:path";
import { replaceDocsSection } from "../../author/docs-section.ts";
import { planEdit, readTextFile } from "../../files/edit.ts";
import { describePack } from "../../pages/describe-packs.ts";
import { formatPackDocs } from "../../pages/markdown.ts";
import { failure } from "../../problems/index.ts";
import { quoteForShell } from "../../problems/text.ts";
import type { Command, CommandAnswer, CommandInput } from "../command.ts";
import { choice, flag, inspectionOptions, numberOf, readInspectionOptions, text } from "../options.ts";
import { writeOrCheck } from "../written-file.ts";

export const command: Command = {
  summary: "Document a pack as Markdown, without running it",
  usage: "[pack]",
  options: {
    out: text("FILE", "Write to this file instead of stdout"),
    write: text("FILE", "Write between <!-- trailblaze:docs --> and <!-- /trailblaze:docs --> of this file"),
    check: flag("Fail if the file given with --out or --write is out of date; write nothing"),
    level: choice("NUMBER", ["1", "2", "3", "4", "5"], "Level of the top headings (default: 2)"),
    ...inspectionOptions,
  },
  run,
};

const invalid = (reason: string, hint: string) => failure("InvalidArguments", { reason, hint });

/** The file that the documentation goes to, and whether it is only a section of it. */
function readTarget({ options }: CommandInput): { path: string; isSection: boolean } | undefined {
  const { out, write } = options;
  if (out !== undefined && write !== undefined)
    throw invalid("--out and --write exclude each other", "Pass one of them.");
  const path = out ?? write;
  if (path === "") throw invalid(`--${out === "" ? "out" : "write"} requires a file`, "Pass its path.");
  if (path === undefined && options.check === true)
    throw invalid("--check requires --out or --write", "Run `trailblaze docs --check --write README.md`.");
  return path === undefined ? undefined : { path: String(path), isSection: write !== undefined };
}

/** Documents a pack as Markdown: prints it, writes it to a file or into a section of one, or compares it with that. */
async function run(input: CommandInput): Promise<CommandAnswer> {
  const { positionals, options, cwd } = input;
  const target = readTarget(input);
  const pack = await describePack(positionals[0], readInspectionOptions(input));
  const problems = [...pack.pack.problems, ...pack.problems, ...pack.ofReferences];
  const markdown = formatPackDocs(pack, numberOf(options.level) ?? 2);
  // A broken pack is documented as far as it can be.
  const exitCode = options.strict === true ? undefined : 0;
  if (target === undefined)
    return {
      json: { markdown, problems },
      formatText: () => markdown.trimEnd(),
      problems,
      exitCode,
    };
  const { path, isSection } = target;
  const file = resolve(cwd, path);
  const before = readTextFile(file);
  const edit = isSection
    ? { file, before, after: replaceDocsSection(before ?? "", markdown, path) }
    : planEdit(file, markdown);
  const { json, ...answer } = writeOrCheck(edit, input, {
    path,
    command: `trailblaze docs --${isSection ? "write" : "out"} ${quoteForShell(path)}`,
    written: `now documents ${pack.pack.name}`,
    unchanged: "is already up to date",
  });
  return { json: { ...json, problems }, problems, ...answer, exitCode: answer.exitCode ?? exitCode };
}
