import type { ProcessPort } from "../processes/process-port.ts";
import type { CodeExitError } from "./code-exit-error.ts";
import type { OutcomeRunner } from "./tool-code.ts";

/** How to run the code of a pack, or of the host itself. */
export interface RunnerOptions {
  /** Absolute path that contains its modules. */
  root: string;
  /** True for the host's own code, whose late errors end the process. */
  trusted: boolean;
  /** The complete environment of the child process; `undefined` to run the code in this process. */
  child:
    | {
        env: Readonly<Record<string, string>>;
        onOutput(chunk: Buffer): void;
        processes: ProcessPort;
      }
    | undefined;
  onLateError(message: string): void;
}

/** Creates the runner of one owner's code. Imports only the kind of runner that it needs. */
export async function createRunner({
  root,
  trusted,
  child,
  onLateError,
}: RunnerOptions): Promise<OutcomeRunner & { readonly exit?: Promise<CodeExitError> }> {
  if (child === undefined) {
    const { createInProcessRunner } = await import("./in-process-runner.ts");
    return createInProcessRunner({ root, trusted, onLateError });
  }
  const { createProcessRunner } = await import("./process-runner.ts");
  return createProcessRunner({ root, ...child, onLateError });
}
