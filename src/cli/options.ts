import type { CommandInput, OptionDescription } from "./command.ts";

export const flag = (description: string): OptionDescription => ({ type: "boolean", description });

/** An option with a value, which the help calls `placeholder`. */
export const text = (placeholder: string, description: string): OptionDescription => ({
  type: "string",
  placeholder,
  description,
});

/** An option with one of some values. */
export const choice = (
  placeholder: string,
  choices: readonly string[],
  description: string,
): OptionDescription => ({ ...text(placeholder, description), choices });

/** An option with an integer. */
export const integer = (placeholder: string, least: number, description: string): OptionDescription => ({
  ...text(placeholder, description),
  least,
});

/** An option that may be repeated, each time with a value. */
export const texts = (placeholder: string, description: string): OptionDescription => ({
  ...text(placeholder, description),
  multiple: true,
});

/** The options of every command. */
export const commonOptions: Readonly<Record<string, OptionDescription>> = {
  cwd: text("DIR", "Run in this folder instead of the current one"),
  json: flag("Print one JSON document on stdout"),
  strict: flag("Treat warnings as errors"),
  help: { ...flag("Show this help"), short: "h" },
};

/** The options of commands that search registries: `search` and `list --remote`. */
export const remoteOptions: Readonly<Record<string, OptionDescription>> = {
  refresh: flag("Ask the registry even for cached answers that are fresh"),
  offline: flag("Use only the cache; make no requests"),
};

type OptionValue = CommandInput["options"][string];

/** The value of an option made by `text`. */
export const textOf = (value: OptionValue): string | undefined =>
  value === undefined ? undefined : String(value);

/** The value of an option made by `integer`. */
export const numberOf = (value: OptionValue): number | undefined =>
  value === undefined ? undefined : Number(value);

/** The values of an option made by `texts`. */
export const textsOf = (value: OptionValue): string[] | undefined =>
  Array.isArray(value) ? value.map(String) : undefined;
