import type { OptionDescription } from "./command.ts";

export const builtInsOption: OptionDescription = {
  type: "string",
  placeholder: "NAMES",
  description: "Accept these names as built-ins of the host, separated by commas",
};

/** Limits on definitions that are code. */
export const confinementOptions: Readonly<Record<string, OptionDescription>> = {
  "data-only": { type: "boolean", description: "Reject definitions that are code" },
  "require-confinement": {
    type: "boolean",
    description: "Reject definitions that are code if they cannot be confined",
  },
};
