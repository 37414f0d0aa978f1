import type { ParseArgsConfig } from "node:util";
import type { Problem } from "../problems/index.ts";
import type { ExitCode } from "./exit-code.ts";

/** An option of a command: what `parseArgs` of `node:util` reads, and its help. */
export type OptionDescription = NonNullable<ParseArgsConfig["options"]>[string] & {
  description: string;
  /** The name of its value in the help, for options with one. */
  placeholder?: string;
};

/** The parsed command line. */
export interface CommandInput {
  positionals: readonly string[];
  options: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;
  /** Folder to run in: `--cwd`, else the process's. */
  cwd: string;
}

/** How text is formatted. */
export interface TextStyle {
  color: boolean;
  /** Columns of the terminal; `undefined` if the text goes elsewhere. */
  width: number | undefined;
}

/** The answer of a command: data, and text that is formatted only when printed. */
export interface CommandAnswer {
  /** The document that `--json` prints. */
  json: unknown;
  /** The answer as text, without a trailing line end. */
  formatText(style: TextStyle): string;
  /** Printed on stderr; an error among them makes the exit code 1. */
  problems: readonly Problem[];
  /** The text contains the problems, so they are not printed on stderr. */
  problemsAreInText?: boolean;
  /** The text is for programs, such as generated source or annotations. */
  isDocument?: boolean;
  /** The command has printed the answer itself. */
  isSilent?: boolean;
  /** The problems do not affect the exit code. */
  problemsAreAside?: boolean;
  /** Overrides the exit code that follows from the problems and `failed`. */
  exitCode?: ExitCode;
  /** Makes the exit code 1 regardless of the problems. */
  failed?: boolean;
}

export interface CommandModule {
  run(input: CommandInput): Promise<CommandAnswer>;
}

/** A command in the table of commands. Its module is imported only when it runs. */
export interface CommandDescription {
  summary: string;
  /** The arguments after the command's name, such as `[kind]`. */
  usage: string;
  /** How many arguments it takes besides options. */
  positionals: readonly [minimum: number, maximum: number];
  options: Readonly<Record<string, OptionDescription>>;
  load(): Promise<CommandModule>;
}

/** The comma-separated names in the value of an option. */
export function readNames(value: unknown): string[] {
  const names = typeof value === "string" ? value.split(",") : [];
  return names.map((name) => name.trim()).filter((name) => name !== "");
}
