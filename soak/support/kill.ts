import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { command } from "../../test/support/run-cli.ts";

export interface CommandPlace {
  cwd: string;
  env: NodeJS.ProcessEnv;
}

/**
 * Starts the built command and kills it after a time, with or without its children. Returns whether it was still running.
 */
export async function runAndKill(
  args: readonly string[],
  { cwd, env }: CommandPlace,
  afterMs: number,
  { withChildren = false } = {},
): Promise<boolean> {
  const options = { cwd, env, stdio: "ignore", detached: withChildren } as const;
  const child = spawn(process.execPath, [command, ...args], options);
  const ended = once(child, "exit");
  await Promise.race([ended, sleep(afterMs)]);
  const isRunning = child.exitCode === null && child.signalCode === null && child.pid !== undefined;
  if (isRunning) process.kill(withChildren ? -child.pid : child.pid, "SIGKILL");
  await ended;
  return isRunning;
}
