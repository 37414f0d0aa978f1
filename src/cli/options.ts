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

type Options = Readonly<Record<string, OptionDescription>>;

/** The options of every command. */
export const commonOptions: Options = {
  cwd: text("DIR", "Run in this folder instead of the current one"),
  json: flag("Print one JSON document on stdout"),
  strict: flag("Treat warnings as errors"),
  help: { ...flag("Show this help"), short: "h" },
};

/** The options of commands that search registries: `search` and `list --remote`. */
export const remoteOptions: Options = {
  refresh: flag("Ask the registry even for cached answers that are fresh"),
  offline: flag("Use only the cache; make no requests"),
};

export const configOption: Options = {
  config: text("FILE", "Use this config file instead of the project's"),
};

/** The options of every command that opens a session. */
export const sessionOptions: Options = {
  platform: text("NAME", "Platform of the device: IOS, ANDROID or WEB"),
  driver: text("NAME", "Driver of the device"),
  memory: texts("KEY=VALUE", "Set a value in the session's memory (repeatable)"),
  toolset: texts("NAME", "Offer only the tools of this toolset (repeatable)"),
  "on-device": flag("Exclude tools that require the agent to run on the host"),
  frozen: flag("Fail if what is installed differs from trailblaze.lock, or if there is none"),
  ...configOption,
};

/** The option of every command that can install the packs it needs. */
export const installOption: Options = { install: flag("Install missing packs first") };

/** The option of every command that can name tools and prompts as `start` does. */
export const servedOption: Options = {
  served: flag("Name tools as `start` does, with a prefix for names that several tools have"),
};

/** The options of the commands that decide when servers start. */
export const startOptions: Options = {
  lazy: flag("Start servers at the first call that needs them, if trailblaze.lock has their lists"),
  eager: flag("Start all servers at once"),
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

/** The options of commands that read definitions without running them. */
export const inspectionOptions: Options = {
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
