import type { CommandInput } from "./command.ts";
import { flag, text } from "./options.ts";

/** The options of commands that read definitions without running them. */
export const inspectionOptions = {
  "built-ins": text("NAMES", "Accept these built-ins of the host, separated by commas"),
  "data-only": flag("Reject definitions that are code"),
  "require-confinement": flag("Reject code that cannot be confined"),
};

export function readInspectionOptions({ options, cwd }: CommandInput<typeof inspectionOptions>) {
  const names = (options["built-ins"] ?? "").split(",").map((name) => name.trim());
  return {
    cwd,
    builtIns: names.filter((name) => name !== ""),
    dataOnly: options["data-only"],
    requireConfinement: options["require-confinement"],
  };
}
