import { findProject } from "../../discovery/project.ts";
import { createNodeDiscoveryPort } from "../../files/node-discovery-port.ts";
import { failure, printable, printableLines, quote } from "../../problems/index.ts";
import type { Command, CommandAnswer, CommandInput } from "../command.ts";
import { flag, text, texts, textsOf } from "../options.ts";
import { output } from "../output.ts";
import { readStdin } from "../session/read-arguments.ts";

export const command: Command = {
  summary: "Add the servers of an MCP client, a file or stdin (-) to the project's config",
  usage: "<client|file|->",
  options: {
    only: texts("NAME", "Import only this server (repeatable)"),
    replace: flag("Replace servers that the config already has"),
    scope: text("SCOPE", "Config to read: user (default), or project for the config in the project folder"),
    "dry-run": flag("Show the changes without making them"),
  },
  run,
};

async function run({ positionals, options, cwd }: CommandInput): Promise<CommandAnswer> {
  const [source = ""] = positionals;
  const { scope } = options;
  if (scope !== undefined && scope !== "user" && scope !== "project") {
    const reason = `Unknown scope ${quote(String(scope))}`;
    throw failure("InvalidArguments", { reason, hint: "Pass --scope user or --scope project." });
  }
  const { planImport } = await import("../../install/import-servers.ts");
  const plan = await planImport(source, {
    cwd,
    scope,
    only: textsOf(options.only) ?? [],
    replace: options.replace === true,
    readInput: readStdin,
  });
  const { added, skipped, variables, notes, edit } = plan;
  const isDryRun = options["dry-run"] === true;
  const { directory } = findProject(createNodeDiscoveryPort(), cwd);
  // A lock that cannot be used is an error before the config changes.
  const { findLock } = await import("../../lock/find-lock.ts");
  await findLock(directory);
  if (!isDryRun) await edit.apply();
  const { recordAdditions } = await import("../../approval/update-lock.ts");
  const recorded = isDryRun ? undefined : await recordAdditions(directory, added, { starts: false });
  if (recorded !== undefined && recorded.text !== "") output.note(recorded.text);
  for (const note of notes) output.note(printable(note));
  const lines = [
    ...added.map((name) => `${isDryRun ? "Would add" : "Added"} ${name}`),
    ...skipped.map(
      ({ name, reason, detail }) => `Skipped ${name}: ${reason}${detail === undefined ? "" : ` (${detail})`}`,
    ),
    ...(variables.length > 0 ? [`Set these variables: ${variables.join(", ")}`] : []),
    ...(recorded?.lines ?? []),
  ];
  return {
    json: { added, skipped, variables, file: edit.file, diff: edit.diff },
    formatText: () =>
      [...(isDryRun ? [printableLines(edit.diff.trimEnd())] : []), ...lines.map(printable)]
        .filter((line) => line !== "")
        .join("\n"),
    problems: [],
  };
}
