import type { CommandInput, OptionDescription } from "./command.ts";
import { flag, text, textOf } from "./options.ts";

/** The options of commands that read definitions without running them. */
export const inspectionOptions: Readonly<Record<string, OptionDescription>> = {
  "built-ins": text("NAMES", "Accept these names as built-ins of the host, separated by commas"),
  "data-only": flag("Reject definitions that are code"),
  "require-confinement": flag("Reject definitions that are code if they cannot be confined"),
};

export function readInspectionOptions({ options, cwd }: CommandInput) {
  const names = (textOf(options["built-ins"]) ?? "").split(",").map((name) => name.trim());
  return {
    cwd,
    builtIns: names.filter((name) => name !== ""),
    dataOnly: options["data-only"] === true,
    requireConfinement: options["require-confinement"] === true,
  };
}
