import type { ParseArgsConfig } from "node:util";
import type { Problem } from "../problems/index.ts";
import type { ExitCode } from "./exit-code.ts";

/** An option of a command: its configuration for `parseArgs` of `node:util`, and its help. */
export type OptionDescription = NonNullable<ParseArgsConfig["options"]>[string] & {
  description: string;
  /** The name of the option's value in the help, if it has one. */
  placeholder?: string;
  /** The value of the option without one; written with `=`, a value is taken. */
  bare?: string;
  /** The values that it takes. */
  choices?: readonly string[];
  /** The smallest of the integers that it takes. */
  least?: number;
};

/** The parsed command line. */
export interface CommandInput {
  positionals: readonly string[];
  options: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;
  /** The folder to run in: `--cwd`, or else the working folder of the process. */
  cwd: string;
}

export interface TextStyle {
  color: boolean;
  /** Columns of the terminal; `undefined` if the output is not a terminal. */
  width: number | undefined;
}

/**
 * The result of a command: data, and text that is formatted only when it is printed. A command that has already printed its
 * result leaves both out.
 */
export interface CommandAnswer {
  /** The document that `--json` prints. */
  json?: unknown;
  /** Writes it in place of `JSON.stringify`, indented. */
  stringify?: (document: unknown) => string;
  /** The result as text, without a trailing line end. */
  formatText?(style: TextStyle): string;
  /** Printed on stderr beside the text. Without `exitCode`, an error among them makes it 1. */
  problems: readonly Problem[];
  exitCode?: ExitCode;
  /** The text is generated source or a report for programs, and text from packs in it is escaped for CI runners. */
  isDocument?: boolean;
}

/** What the file of a command exports: its part of the command line and of the help, and what it does. */
export interface Command {
  summary: string;
  /**
   * The arguments after the command's name, which the parser counts: `<required>`, `[optional]`, `[any number...]`, and
   * alternatives between ` | `.
   */
  usage: string;
  options: Readonly<Record<string, OptionDescription>>;
  run(input: CommandInput): Promise<CommandAnswer>;
}
