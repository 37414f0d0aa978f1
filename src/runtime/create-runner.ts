import type { ProcessPort } from "../processes/process-port.ts";
import type { CodeDiedError } from "./code-died-error.ts";
import type { OutcomeRunner } from "./tool-code.ts";

/** How the code of a pack, or of the host itself, is run. */
export interface RunnerOptions {
  /** Absolute path that its modules must lie in. */
  root: string;
  /** The host's own code, whose late errors are the host's. */
  trusted: boolean;
  /** The complete environment of the child it runs in; without it the code runs in this process. */
  child:
    | { env: Readonly<Record<string, string>>; onOutput(chunk: Buffer): void; processes: ProcessPort }
    | undefined;
  onLateError(message: string): void;
}

/** The runner of one origin's code, in this process or in a child; loads only what that takes. */
export async function createRunner({
  root,
  trusted,
  child,
  onLateError,
}: RunnerOptions): Promise<OutcomeRunner & { readonly death?: Promise<CodeDiedError> }> {
  if (child === undefined) {
    const { createInProcessRunner } = await import("./in-process-runner.ts");
    return createInProcessRunner({ root, trusted, onLateError });
  }
  const { createProcessRunner } = await import("./process-runner.ts");
  return createProcessRunner({ root, ...child, onLateError });
}
