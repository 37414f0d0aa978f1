import { existsSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { planExport } from "../../author/exports.ts";
import { declareTools } from "../../author/generate-types.ts";
import { createPack, templateNames } from "../../author/init-pack.ts";
import { formatLineDiff } from "../../data/line-diff.ts";
import { applyEdits, type Edit, isChange, planEdit, readTextFile } from "../../files/edit.ts";
import { describePack } from "../../pages/describe-packs.ts";
import { formatPackDocs, replaceDocsSection } from "../../pages/markdown.ts";
import { failure, hasErrors, printable, printableLines } from "../../problems/index.ts";
import { quoteForShell } from "../../problems/text.ts";
import { validateTarget } from "../../validate/validate-target.ts";
import { type CommandAnswer, defineCommand } from "../command.ts";
import { inspectionOptions, readInspectionOptions } from "../inspection-options.ts";
import { choice, flag, text } from "../options.ts";
import { openCommandSession, sessionOptions } from "../session/session-command.ts";

export const init = defineCommand({
  summary: "Create a pack in an empty folder",
  usage: "[folder]",
  options: {
    name: text("NAME", "npm name of the pack (default: derived from the folder)"),
    template: choice(
      "TEMPLATE",
      templateNames,
      "Template: data (default), typescript, server, composed or bundle",
    ),
    yes: { ...flag("Accepted for scripts; init never asks"), short: "y" },
  },
  async run({ positionals, options, cwd }) {
    if (!existsSync(cwd)) throw failure("ProjectNotFound", { directory: resolve(cwd), exists: false });
    const { nextSteps, ...made } = createPack(resolve(cwd, positionals[0] ?? "."), {
      name: options.name,
      template: options.template,
    });
    const markdown = formatPackDocs(await describePack(undefined, { cwd: made.directory }), 2);
    applyEdits([planSection(join(made.directory, "README.md"), "README.md", markdown)]);
    const path = printable(relative(cwd, made.directory));
    const folder = path === "" ? basename(made.directory) : path;
    const lines = [
      `Created ${made.name} in ${printable(folder)} from the template ${made.template}:`,
      ...made.files.map((name) => `  ${name}`),
      "",
      "Next steps:",
      ...[...(path === "" ? [] : [`cd ${quoteForShell(path)}`]), ...nextSteps].map((step) => `  ${step}`),
    ];
    return { json: made, formatText: () => lines.join("\n") };
  },
});

/** Plans the section of a file that `docs --write` writes. `shown`: its path for users. */
function planSection(file: string, shown: string, markdown: string): Edit {
  const before = readTextFile(file) ?? "";
  return { file, before, after: replaceDocsSection(before, markdown, shown) };
}

/**
 * Writes the files of a command, of which `shown` is the path for users. With `check` it compares them, with `dry-run` it shows
 * what would change. `others`: the other keys of the document.
 */
function writeFiles(
  files: readonly { shown: string; edit: Edit }[],
  { check = false, "dry-run": isDryRun = false }: { check?: boolean; "dry-run"?: boolean },
  others: object,
): CommandAnswer {
  const results = files.map(({ shown, edit }) => {
    return { file: shown, changed: isChange(edit), diff: formatLineDiff(shown, edit.before, edit.after) };
  });
  if (!check && !isDryRun) applyEdits(files.map(({ edit }) => edit));
  const [words, unchanged] = check ? ["is out of date", "is up to date"] : ["written", "unchanged"];
  const lines = results.flatMap(({ file, changed, diff }) => {
    if (isDryRun && !check) return changed ? printableLines(diff.trimEnd()) : [];
    return printable(`${file}: ${changed ? words : unchanged}`);
  });
  return {
    json: { files: results, ...others },
    formatText: () => lines.join("\n"),
    exitCode: check && results.some(({ changed }) => changed) ? 1 : undefined,
  };
}

export const types = defineCommand({
  summary: "Generate TypeScript declarations for a session's tools",
  usage: "",
  options: {
    out: text("FILE", "Write to this file instead of stdout"),
    check: { ...flag("Fail if the file given with --out is out of date; write nothing"), needs: ["out"] },
    ...sessionOptions,
  },
  async run(input) {
    const { options, cwd } = input;
    const { out, check } = options;
    const { session } = await openCommandSession(input);
    const { declarations, tools } = declareTools(session, cwd);
    const { problems } = session;
    if (out === undefined)
      return { json: { declarations, tools, problems }, formatText: () => declarations.trimEnd() };
    const edit = planEdit(resolve(cwd, out), declarations);
    return writeFiles([{ shown: out, edit }], { check }, { tools, problems });
  },
});

export const docs = defineCommand({
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
    const shown = out ?? write;
    if (shown === undefined)
      return { json: { markdown, problems }, formatText: () => markdown.trimEnd(), exitCode };
    const file = resolve(cwd, shown);
    const edit = out === undefined ? planSection(file, shown, markdown) : planEdit(file, markdown);
    const written = writeFiles([{ shown, edit }], { check }, { problems });
    return { ...written, exitCode: written.exitCode ?? exitCode };
  },
});

export const exportServer = defineCommand({
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
    const { problems } = (await validateTarget(pack.pack.location, inspection)).report;
    if (hasErrors(problems))
      return {
        json: { format, server: server ?? null, files: [], problems },
        formatText: () => "Nothing was exported, because the pack is invalid.",
        exitCode: 1,
      };
    const { name, description, force } = options;
    const out = options.out === undefined ? undefined : resolve(cwd, options.out);
    const planned = planExport(pack, format, server, { name, description, out, force });
    const others = { format, server: planned.server, problems: planned.problems };
    return writeFiles(planned.files, options, others);
  },
});
