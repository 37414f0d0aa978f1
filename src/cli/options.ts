/** An option of a command: its configuration for `parseArgs` of `node:util`, its help, and what its value may be. */
export interface Option {
  type: "boolean" | "string";
  short?: string;
  multiple?: boolean;
  description: string;
  /** The name of the option's value in the help, if it has one. */
  placeholder?: string;
  /** The value of the option without one; written with `=`, a value is taken. */
  bare?: string;
  choices?: readonly string[];
  /** The smallest of the integers that it takes. */
  least?: number;
  /** Options of which it needs one. */
  needs?: readonly string[];
  excludes?: readonly string[];
}

export type Options = Readonly<Record<string, Option>>;

export const flag = (description: string) => ({ type: "boolean", description }) as const;

export const text = (placeholder: string, description: string) =>
  ({ type: "string", placeholder, description }) as const;

export const choice = <Choice extends string>(
  placeholder: string,
  choices: readonly Choice[],
  description: string,
) => ({ ...text(placeholder, description), choices });

export const integer = (placeholder: string, least: number, description: string) => ({
  ...text(placeholder, description),
  least,
});

export const texts = (placeholder: string, description: string) =>
  ({ ...text(placeholder, description), multiple: true }) as const;

export const commonOptions = {
  cwd: text("DIR", "Run in this folder"),
  json: flag("Print one JSON document on stdout"),
  strict: flag("Treat warnings as errors"),
  help: { ...flag("Show this help"), short: "h" },
};

type ValueOf<Declared> = Declared extends { type: "boolean" }
  ? boolean
  : Declared extends { multiple: true }
    ? string[] | undefined
    : Declared extends { least: number }
      ? number | undefined
      : Declared extends { choices: readonly (infer Choice)[] }
        ? Choice | undefined
        : Declared extends { type: "string" }
          ? string | undefined
          : undefined;

export type ValuesOf<Declared> = { readonly [Name in keyof Declared]: ValueOf<Declared[Name]> };

/** The options of commands that search registries: `search` and `list --remote`. */
export const remoteOptions = {
  refresh: { ...flag("Ask the registry, whatever is cached"), excludes: ["offline"] },
  offline: flag("Use only the cache; make no requests"),
};

export const configOption = {
  config: text("FILE", "Use this config file instead of the project's"),
};

export const installOption = { install: flag("Install missing packs first") };
