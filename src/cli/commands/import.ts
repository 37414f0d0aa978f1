import { failure, printable, printableLines, quote } from "../../problems/index.ts";
import type { CommandAnswer, CommandInput } from "../command.ts";
import { output } from "../output.ts";
import { readStdin } from "../session/read-arguments.ts";

export async function run({ positionals, options, cwd }: CommandInput): Promise<CommandAnswer> {
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
    only: Array.isArray(options.only) ? options.only.map(String) : [],
    replace: options.replace === true,
    readInput: readStdin,
  });
  const { added, skipped, variables, notes, edit } = plan;
  const isDryRun = options["dry-run"] === true;
  if (!isDryRun) await edit.apply();
  for (const note of notes) output.note(printable(note));
  const lines = [
    ...added.map((name) => `${isDryRun ? "Would add" : "Added"} ${name}`),
    ...skipped.map(({ name, reason }) => `Skipped ${name}: ${reason}`),
    ...(variables.length > 0 ? [`Set these variables: ${variables.join(", ")}`] : []),
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
