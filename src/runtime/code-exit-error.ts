import { describeExit, type UnexpectedExit } from "../problems/index.ts";

/** The process that runs a pack's code exited, and every call in it failed. The tail is of stdout and stderr, 8 KiB. */
export class CodeExitError extends Error implements UnexpectedExit {
  override readonly name = "CodeExitError";
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly reason?: string;
  readonly stderrTail: string;

  constructor(exit: UnexpectedExit) {
    super(`The process that runs the package's code ${describeExit(exit)}.`);
    this.exitCode = exit.exitCode;
    this.signal = exit.signal;
    this.stderrTail = exit.stderrTail;
    if (exit.reason !== undefined) this.reason = exit.reason;
  }
}
