import { formatLineDiff } from "../data/line-diff.ts";
import { applyEdits, type Edit, isChange } from "../files/edit.ts";
import { printable, printableLines } from "../problems/index.ts";

/** A file of a command; `shown` is its path for users. */
export interface FileToWrite {
  shown: string;
  edit: Edit;
}

/** Writes the files of a command. With `check` it compares them, with `dry-run` it shows what would change. */
export function writeFiles(
  files: readonly FileToWrite[],
  { check = false, "dry-run": isDryRun = false }: { check?: boolean; "dry-run"?: boolean },
) {
  const results = files.map(({ shown, edit }) => {
    return { file: shown, changed: isChange(edit), diff: formatLineDiff(shown, edit.before, edit.after) };
  });
  const edits = files.map(({ edit }) => edit);
  if (!check && !isDryRun) applyEdits(edits, { makesFolders: true });
  const describe = (isChanged: boolean) =>
    check ? (isChanged ? "is out of date" : "is up to date") : isChanged ? "written" : "unchanged";
  const diffs = () => results.map(({ diff }) => printableLines(diff.trimEnd())).filter(Boolean);
  const lines = () => results.map(({ file, changed }) => printable(`${file}: ${describe(changed)}`));
  return {
    files: results,
    formatText: () => (isDryRun && !check ? diffs() : lines()).join("\n"),
    exitCode: check && edits.some(isChange) ? (1 as const) : undefined,
  };
}
