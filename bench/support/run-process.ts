import { spawnSync } from "node:child_process";

export interface ProcessSample {
  wall: number;
  /** User and system time; the wall's where that was not asked for. */
  cpu: number;
}

export interface TimedProcess extends ProcessSample {
  stdout: string;
}

// bash's own `time` counts in milliseconds what Node does not tell of its children.
const timedShell = ["-c", 'TIMEFORMAT="%3U %3S"; time "$@" 2>/dev/null', "time"];

/**
 * Runs a program to its end and takes the time, start and end of the process included. With `cpu` it is started by
 * bash, which adds the same to everything that is compared.
 */
export function runTimed(
  command: string,
  args: readonly string[],
  { cwd, cpu: withCpu = false }: { cwd: string; cpu?: boolean },
): TimedProcess {
  const [program, programArgs] = withCpu ? ["bash", [...timedShell, command, ...args]] : [command, args];
  const start = performance.now();
  const { status, stdout, stderr, error } = spawnSync(program, programArgs, {
    cwd,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  const wall = performance.now() - start;
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}\n${stdout}${stderr}`);
  const [user = 0, system = 0] = withCpu ? stderr.trim().split(" ").map(Number) : [];
  return { stdout, wall, cpu: withCpu ? (user + system) * 1000 : wall };
}
