import { applyEdits, type Edit, isChange } from "../files/edit.ts";
import { printable } from "../problems/index.ts";
import type { CommandAnswer, CommandInput } from "./command.ts";
import type { Option } from "./options.ts";

/** Words for the file of a command. */
interface Words {
  /** The file as the user wrote it. */
  path: string;
  /** What brings the file up to date. */
  command: string;
  written: string;
  unchanged: string;
}

/** Writes the file of a command, or with --check compares it. */
export function writeOrCheck(
  edit: Edit,
  { options }: CommandInput<{ check: Option<boolean> }>,
  { path, command, written, unchanged }: Words,
): Pick<CommandAnswer, "formatText" | "exitCode"> & { json: object } {
  const isCheck = options.check;
  const differs = isChange(edit);
  if (differs && !isCheck) applyEdits([edit]);
  const checked = differs ? `is out of date; run \`${command}\`` : "is up to date";
  const words = isCheck ? checked : differs ? written : unchanged;
  return {
    json: { file: edit.file, differs: isCheck && differs, changed: !isCheck && differs },
    formatText: () => printable(`${path} ${words}`),
    exitCode: isCheck && differs ? 1 : undefined,
  };
}
