import { describeExit, type ProcessDeath } from "../problems/index.ts";

/** The child that runs a pack's code has ended, and with it every call in it. The tail is of stdout and stderr, 8 KiB. */
export class CodeDiedError extends Error implements ProcessDeath {
  override readonly name = "CodeDiedError";
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly reason?: string;
  readonly stderrTail: string;

  constructor(death: ProcessDeath) {
    super(`The process that runs the package's code ${describeExit(death)}.`);
    this.exitCode = death.exitCode;
    this.signal = death.signal;
    this.stderrTail = death.stderrTail;
    if (death.reason !== undefined) this.reason = death.reason;
  }
}
