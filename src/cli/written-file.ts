import { formatLineDiff } from "../data/line-diff.ts";
import { applyEdits, type Edit, isChange } from "../files/edit.ts";
import { printable, printableLines } from "../problems/index.ts";

/** Writes the files of a command, of which `shown` is the path for users. With `check` it compares them, with `dry-run` it shows what would change. */
export function writeFiles(
  files: readonly { shown: string; edit: Edit }[],
  { check = false, "dry-run": isDryRun = false }: { check?: boolean; "dry-run"?: boolean },
) {
  const results = files.map(({ shown, edit }) => {
    return { file: shown, changed: isChange(edit), diff: formatLineDiff(shown, edit.before, edit.after) };
  });
  const edits = files.map(({ edit }) => edit);
  if (!check && !isDryRun) applyEdits(edits);
  const [words, unchanged] = check ? ["is out of date", "is up to date"] : ["written", "unchanged"];
  const lines = results.flatMap(({ file, changed, diff }) => {
    if (isDryRun && !check) return changed ? printableLines(diff.trimEnd()) : [];
    return printable(`${file}: ${changed ? words : unchanged}`);
  });
  return {
    files: results,
    formatText: () => lines.join("\n"),
    exitCode: check && edits.some(isChange) ? (1 as const) : undefined,
  };
}
