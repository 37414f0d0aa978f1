import { spawn } from "node:child_process";
import { collect } from "./processes.ts";

export interface ProcessResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

export interface ProcessOptions {
  readonly cwd: string;
  /** The whole environment of the process. */
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  readonly input?: string;
}

/** Runs a program to its end. Rejects only if it cannot be started, dies of a signal or takes too long. */
export function runProcess(
  command: string,
  args: readonly string[],
  { cwd, env, timeoutMs, input = "" }: ProcessOptions,
): Promise<ProcessResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, timeout: timeoutMs, killSignal: "SIGKILL" });
    const stdout = collect(child.stdout.setEncoding("utf8"));
    const stderr = collect(child.stderr.setEncoding("utf8"));
    // A program that reads no input may be gone before it is written.
    child.stdin.on("error", () => {}).end(input);
    child.on("error", reject);
    child.on("close", (exitCode, signal) => {
      if (exitCode !== null) resolve({ stdout: stdout(), stderr: stderr(), exitCode });
      else reject(new Error(`${[command, ...args].join(" ")} ended by ${signal}\n${stdout()}${stderr()}`));
    });
  });
}

/** Like `runProcess`, for programs that must succeed. Returns what they wrote to stdout. */
export async function runToSuccess(
  command: string,
  args: readonly string[],
  options: ProcessOptions,
): Promise<string> {
  const { stdout, stderr, exitCode } = await runProcess(command, args, options);
  if (exitCode === 0) return stdout;
  throw new Error(`${[command, ...args].join(" ")} exited with code ${exitCode}\n${stdout}${stderr}`);
}
