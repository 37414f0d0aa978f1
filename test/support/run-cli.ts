import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inRepository } from "./repository.ts";
import { type ProcessResult, runProcess } from "./run-process.ts";

const { bin } = JSON.parse(readFileSync(inRepository("package.json"), "utf8")) as {
  bin: { trailblaze: string };
};

/** The built command, as package.json names it. */
export const command = join(inRepository("."), bin.trailblaze);

export interface CliOptions {
  readonly cwd: string;
  /** Added to the environment of the test; undefined takes a name out of it. */
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
}

/** Runs the built command line; needs `npm run build` first. */
export function runCli(
  args: readonly string[],
  { cwd, env = {}, input = "" }: CliOptions,
): Promise<ProcessResult> {
  return runProcess(process.execPath, [command, ...args], {
    cwd,
    env: { ...process.env, ...env },
    timeoutMs: 100_000,
    input,
  });
}
