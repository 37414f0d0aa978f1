import type { ParseArgsConfig } from "node:util";
import type { Problem } from "../problems/index.ts";

/** An option of a command, as `node:util`'s `parseArgs` reads it, with words for people. */
export type OptionDescription = NonNullable<ParseArgsConfig["options"]>[string] & {
  description: string;
  /** What stands for the value in the help, for options that take one. */
  placeholder?: string;
};

/** What a command is given. */
export interface CommandInput {
  positionals: readonly string[];
  options: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;
  /** Folder to work in: `--cwd`, else the process's. */
  cwd: string;
}

/** How text for people may look. */
export interface TextStyle {
  color: boolean;
  /** Columns of the terminal; `undefined` where the answer goes elsewhere. */
  width: number | undefined;
}

/** What a command answers: data first, and text made from it only if people read it. */
export interface CommandAnswer {
  /** The one document that `--json` prints. */
  json: unknown;
  /** The answer as text for people, without a line end at its end. */
  formatText(style: TextStyle): string;
  /** Reported on stderr; errors among them make the exit code 1. */
  problems: readonly Problem[];
  /** The text already says the problems, so they are not repeated on stderr. */
  problemsAreInText?: boolean;
  /** The text is a document that machines read, as generated source or annotations. */
  isDocument?: boolean;
  /** It was given already, while the command ran. */
  isSilent?: boolean;
  /** They are shown, but do not decide how the command went. */
  problemsAreAside?: boolean;
  /** Makes the exit code 1 although no problem says so. */
  failed?: boolean;
}

export interface CommandModule {
  run(input: CommandInput): Promise<CommandAnswer>;
}

/** A command as the table of commands describes it; its code is loaded only when it runs. */
export interface CommandDescription {
  summary: string;
  /** What follows the command's name, as `[kind]`. */
  usage: string;
  /** How many arguments without dashes it takes, at least and at most. */
  positionals: readonly [minimum: number, maximum: number];
  options: Readonly<Record<string, OptionDescription>>;
  load(): Promise<CommandModule>;
}

/** The names in an option's value, which are separated by commas. */
export function readNames(value: unknown): string[] {
  const names = typeof value === "string" ? value.split(",") : [];
  return names.map((name) => name.trim()).filter((name) => name !== "");
}
