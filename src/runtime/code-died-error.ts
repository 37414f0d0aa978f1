/** How the child that runs a pack's code came to its end. */
export interface CodeDeath {
  exitCode: number | null;
  signal: string | null;
  /** The last 4 KiB of what it wrote, to stdout or to stderr. */
  stderrTail: string;
}

/** The child that runs a pack's code has ended, and with it every call in it. */
export class CodeDiedError extends Error implements CodeDeath {
  override readonly name = "CodeDiedError";
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stderrTail: string;

  constructor(message: string, death: CodeDeath) {
    super(message);
    this.exitCode = death.exitCode;
    this.signal = death.signal;
    this.stderrTail = death.stderrTail;
  }
}
