import { basename, join, relative } from "node:path";
import { replaceDocsSection } from "../../author/docs-section.ts";
import {
  createPlannedPack,
  findNewFolder,
  planNewPack,
  readNewName,
  readTemplateName,
  suggestPackName,
  templateNames,
  templates,
} from "../../author/init-pack.ts";
import { applyEdits, readTextFile } from "../../files/edit.ts";
import { describePack } from "../../pages/describe-packs.ts";
import { formatPackDocs } from "../../pages/markdown.ts";
import { failure, printable } from "../../problems/index.ts";
import { quoteForShell } from "../../problems/text.ts";
import { type Ask, canAsk, withAsk } from "../ask.ts";
import type { Command, CommandAnswer, CommandInput } from "../command.ts";
import { flag, text } from "../options.ts";
import { output } from "../output.ts";

export const command: Command = {
  summary: "Create a pack in an empty folder",
  usage: "[folder]",
  options: {
    name: text("NAME", "npm name of the pack (default: derived from the folder)"),
    template: text("TEMPLATE", "Template: data (default), typescript, server, composed or bundle"),
    yes: { ...flag("Use the defaults instead of asking"), short: "y" },
  },
  run,
};

interface PackChoices {
  name?: string;
  template?: string;
}

/** Asks until the answer is valid; an empty answer selects the default. */
async function askFor(
  ask: Ask,
  question: string,
  fallback: string | undefined,
  read: (text: string) => string,
): Promise<string> {
  for (;;) {
    const given = await ask(fallback === undefined ? `${question}:` : `${question} (${fallback}):`);
    if (given === undefined)
      throw failure("InvalidArguments", { reason: "The input ended before every question was answered" });
    const text = given.trim() || (fallback ?? "");
    try {
      return read(text);
    } catch (error) {
      output.note((error as Error).message);
    }
  }
}

/** Asks for whatever the options do not specify. */
export async function askForChoices(folder: string, given: PackChoices, ask: Ask): Promise<PackChoices> {
  const name = given.name ?? (await askFor(ask, "Package name", suggestPackName(folder), readNewName));
  if (given.template !== undefined) return { name, template: given.template };
  for (const [index, one] of templateNames.entries())
    output.note(`  ${index + 1}  ${one.padEnd(10)}  ${templates[one].summary}`);
  const read = (text: string) => readTemplateName(templateNames[Number(text) - 1] ?? text);
  return { name, template: await askFor(ask, "Template", "data", read) };
}

/** Creates a pack, completely or not at all. */
async function run({ positionals, options, cwd }: CommandInput): Promise<CommandAnswer> {
  const [target = "."] = positionals;
  const folder = findNewFolder(target, cwd);
  const given: PackChoices = {
    name: options.name === undefined ? undefined : readNewName(String(options.name)),
    template: options.template === undefined ? undefined : readTemplateName(String(options.template)),
  };
  const isComplete = given.name !== undefined && given.template !== undefined;
  const mayAsk = options.yes !== true && options.json !== true && !isComplete && canAsk();
  if (given.template === undefined && options.yes !== true && !mayAsk) {
    const hint = `Pass --template with ${templateNames.join(", ")}, or --yes for data.`;
    throw failure("InvalidArguments", { reason: "Cannot ask for a template without a terminal", hint });
  }
  const choices = mayAsk ? await withAsk((ask) => askForChoices(folder, given, ask)) : given;
  const plan = planNewPack(target, { cwd, ...choices });
  const made = createPlannedPack(plan);
  // As `trailblaze docs --write README.md` does.
  const readme = join(made.directory, "README.md");
  const before = readTextFile(readme);
  const markdown = formatPackDocs(await describePack(undefined, { cwd: made.directory }), 2);
  applyEdits([{ file: readme, before, after: replaceDocsSection(before ?? "", markdown, "README.md") }]);
  const path = relative(cwd, made.directory);
  const steps = [...(path === "" ? [] : [`cd ${quoteForShell(printable(path))}`]), ...plan.nextSteps];
  return {
    json: made,
    formatText: () =>
      [
        `Created ${made.name} in ${printable(path === "" ? basename(made.directory) : path)} from the template ${made.template}:`,
        ...made.files.map((file) => `  ${file}`),
        "",
        "Next steps:",
        ...steps.map((step) => `  ${step}`),
      ].join("\n"),
    problems: [],
  };
}
