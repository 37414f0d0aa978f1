import { main } from "../../src/cli/main.ts";
import type { ProcessResult } from "./run-process.ts";

/** Runs a command line as `runCli` does, but in this process: without a terminal, and without the built command. */
export async function runMain(args: readonly string[], cwd: string): Promise<ProcessResult> {
  const written = { 1: "", 2: "" };
  const exitCode = await main(args, {
    cwd,
    write(descriptor, text) {
      written[descriptor] += text;
    },
  });
  return { exitCode, stdout: written[1], stderr: written[2] };
}
