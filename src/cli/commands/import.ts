import { findProject } from "../../discovery/project.ts";
import { createNodeDiscoveryPort } from "../../files/node-discovery-port.ts";
import { printable, printableLines } from "../../problems/index.ts";
import { quoteForShell } from "../../problems/text.ts";
import { askForYes, requireTerminal } from "../ask.ts";
import { defineCommand } from "../command.ts";
import { choice, flag, texts } from "../options.ts";
import { output } from "../output.ts";
import { readStdin } from "../session/read-arguments.ts";

export const command = defineCommand({
  summary: "Add the servers of an MCP client, a file or stdin (-) to the project's config",
  usage: "<client|file|->",
  options: {
    yes: { ...flag("Add the servers without asking"), short: "y" },
    only: texts("NAME", "Import only this server (repeatable)"),
    replace: flag("Replace servers that the config already has"),
    scope: choice(
      "SCOPE",
      ["user", "project"],
      "Config to read: user (default), or project for the config in the project folder",
    ),
    "dry-run": flag("Show the changes without making them"),
  },
  async run({ positionals, options, cwd }) {
    const [source = ""] = positionals;
    const { planImport } = await import("../../install/import-servers.ts");
    const plan = await planImport(source, {
      cwd,
      scope: options.scope as "user" | "project" | undefined,
      only: options.only ?? [],
      replace: options.replace,
      readInput: readStdin,
    });
    const { added, skipped, variables, notes, edit } = plan;
    const isDryRun = options["dry-run"];
    const { directory } = findProject(createNodeDiscoveryPort(), cwd);
    // A lock that cannot be used is an error before the config changes.
    const { findLock } = await import("../../lock/lock-file.ts");
    const lock = await findLock(directory);
    const asks = !isDryRun && !options.yes && added.length > 0;
    if (asks)
      requireTerminal(
        "confirmation",
        "Pass --yes to add the servers without confirmation, or --dry-run to see them.",
      );
    if (!isDryRun && added.length > 0) output.note(printableLines(edit.diff.trimEnd()));
    if (asks && !(await askForYes("Add this to the config?")))
      return {
        json: { added: [], skipped, variables: [], file: edit.file, diff: edit.diff },
        formatText: () => "Nothing was added.",
        exitCode: 1,
      };
    if (!isDryRun) await edit.apply();
    for (const note of notes) output.note(printable(note));
    const lines = [
      ...added.map((name) => `${isDryRun ? "Would add" : "Added"} ${name}`),
      ...skipped.map(
        ({ name, reason, detail }) =>
          `Skipped ${name}: ${reason}${detail === undefined ? "" : ` (${detail})`}`,
      ),
      ...(variables.length > 0 ? [`Set these variables: ${variables.join(", ")}`] : []),
      ...(lock === undefined || isDryRun ? [] : added.map(describeApproval)),
    ];
    return {
      json: { added, skipped, variables, file: edit.file, diff: edit.diff },
      formatText: () =>
        [...(isDryRun ? [printableLines(edit.diff.trimEnd())] : []), ...lines.map(printable)]
          .filter((line) => line !== "")
          .join("\n"),
    };
  },
});

/** What it adds was not shown as the lock would have it. */
const describeApproval = (name: string) =>
  `Run \`trailblaze approve ${quoteForShell(name)}\` to read and approve it.`;
