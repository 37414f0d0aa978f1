import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The built command. */
export const command = fileURLToPath(new URL("../../dist/cli/cli.cjs", import.meta.url));

export interface ProcessSample {
  wall: number;
  /** User and system time; wall time if that was not requested. */
  cpu: number;
}

export interface TimedProcess extends ProcessSample {
  stdout: string;
}

// bash's `time` measures in milliseconds; Node does not report the CPU time of its children.
const timedShell = ["-c", 'TIMEFORMAT="%3U %3S"; time "$@" 2>/dev/null', "time"];

/**
 * Runs a program and measures its time, including the start and exit of the process. With `cpu`, bash starts it, which
 * adds the same to all contestants.
 */
export function runTimed(
  command: string,
  args: readonly string[],
  { cwd, env, cpu: withCpu = false }: { cwd: string; env?: NodeJS.ProcessEnv; cpu?: boolean },
): TimedProcess {
  const [program, programArgs] = withCpu ? ["bash", [...timedShell, command, ...args]] : [command, args];
  const start = performance.now();
  const { status, stdout, stderr, error } = spawnSync(program, programArgs, {
    cwd,
    env,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  const wall = performance.now() - start;
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}\n${stdout}${stderr}`);
  const [user = 0, system = 0] = withCpu ? stderr.trim().split(" ").map(Number) : [];
  return { stdout, wall, cpu: withCpu ? (user + system) * 1000 : wall };
}

/** Contestants that are whole processes of Node in a folder, including its start and exit. */
export function processes<Name extends string>(
  cwd: string,
  cpu: boolean,
  commandLines: Readonly<Record<Name, readonly string[]>>,
  node = process.execPath,
) {
  return Object.fromEntries(
    Object.entries<readonly string[]>(commandLines).map(([name, args]) => {
      const run = () => {
        const { wall, cpu: used } = runTimed(node, args, { cwd, cpu });
        return { time: cpu ? used : wall };
      };
      return [name, run];
    }),
  );
}
