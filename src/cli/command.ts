import type { Problem } from "../problems/index.ts";
import type { Session } from "../session/session.ts";
import type { ExitCode } from "./exit-code.ts";
import type { commonOptions, Options, ValuesOf } from "./options.ts";

export interface CommandInput<Own = unknown> {
  positionals: readonly string[];
  options: ValuesOf<Own & typeof commonOptions>;
  /** The folder to run in: `--cwd`, or else the working folder of the process. */
  cwd: string;
  /** Set by a command that catches signals, until it ends. */
  interruption?: { signal: AbortSignal; restore(): void };
  /** Set by a command that opens a session, which is closed when the command ends. */
  session?: Session;
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
  /** A text is JSON that only needs its unprintable characters escaped. */
  json?: object | string;
  /** Without a trailing line end. */
  formatText?(style: TextStyle): string;
  /** Printed on stderr beside the text. Without `exitCode`, an error among them makes it 1. Default: those of the document. */
  problems?: readonly Problem[];
  exitCode?: ExitCode;
  /** The text is a report for programs, and text from packs in it is escaped for CI runners. */
  isDocument?: boolean;
}

export interface Command<Own = Options> {
  summary: string;
  /**
   * The arguments after the command's name, which the parser counts: `<required>`, `[optional]`, `[any number...]`, and
   * alternatives between ` | `.
   */
  usage: string;
  options: Own;
  run(input: CommandInput<Own>): Promise<CommandAnswer>;
}

export const defineCommand = <Own extends Options>(command: Command<Own>): Command =>
  command as unknown as Command;
