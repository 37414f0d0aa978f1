import { type ChildProcess, type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { attempt, errorCode } from "../files/file-errors.ts";
import { quote } from "../problems/index.ts";
import { type FoundProgram, findProgram, type ProgramFiles, type WrittenCommand } from "./find-program.ts";

// What a session may do with processes: start supervised programs.

/** A program to run. Environment and folder are complete: it inherits nothing else. */
export interface ProcessLaunch extends WrittenCommand {
  env: Readonly<Record<string, string>>;
  /** Whether it is a Node that exchanges messages with this process, over a channel of its own. */
  hasChannel?: boolean;
}

/** How a process exited; one of the two is not null. */
export interface ProcessEnd {
  exitCode: number | null;
  signal: string | null;
}

/** A process that ends, with its whole process group, at most a few seconds after this process. */
export interface SupervisedProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Its messages, if it has a channel. Ends with the input. */
  readonly channel: Pick<ChildProcess, "send" | "on"> | undefined;
  /** Resolves when the process itself has exited, even if others of its group still hold its output; those are then ended. */
  readonly exited: Promise<ProcessEnd>;
  /**
   * Ends the input, then sends SIGTERM to the whole group after `inputMs` (default: 5 s), and SIGKILL 2 s later. Resolves when the
   * group has ended, or shortly after SIGKILL. Idempotent; a later call can only shorten the time.
   */
  end(inputMs?: number): Promise<void>;
}

export interface ProcessPort {
  /** Rejects with an `Error` whose message is a reason for users if the program cannot be started. */
  start(launch: ProcessLaunch): Promise<SupervisedProcess>;
}

/** Whether a process of the group has not ended, as far as the system tells: some containers never reap those that have. */
function hasLivingMember(group: number): boolean {
  const names = attempt(() => readdirSync("/proc")) ?? [];
  const stats = names.flatMap((name) => attempt(() => readFileSync(`/proc/${name}/stat`, "latin1")) ?? []);
  // State, parent and group follow the name of the program, which may have any character.
  const living = new RegExp(`^\\) [^ZX] \\d+ ${group} `);
  return stats.length === 0 || stats.some((stat) => living.test(stat.slice(stat.lastIndexOf(")"))));
}

/**
 * A process and its descendants, as far as the system keeps them together. Once it is not alive, it must not be signaled any more:
 * its number may be reused.
 */
export function createPosixGroup(leader: number, isLeaderAlive: () => boolean) {
  // Zero and one address other groups.
  if (!(leader > 1)) throw new RangeError(`${leader} leads no group`);
  /** Returns whether there is a group of that number. */
  const signal = (name: NodeJS.Signals | 0): boolean => {
    try {
      return process.kill(-leader, name);
    } catch (error) {
      return errorCode(error) === "EPERM";
    }
  };
  return { isAlive: () => isLeaderAlive() || (signal(0) && hasLivingMember(leader)), signal };
}

/**
 * The process tree below a process on Windows, which has no groups; once its root has exited, it cannot be found. Programs
 * without windows can only be ended by force. Not tested on a real Windows.
 */
export function createWindowsTree(
  root: number,
  isRootAlive: () => boolean,
  taskkill: (args: readonly string[]) => void,
) {
  const signal = (_: NodeJS.Signals) => taskkill(["/pid", String(root), "/t", "/f"]);
  return { isAlive: isRootAlive, signal };
}

export interface ProcessPortOptions {
  /** Milliseconds from SIGTERM to SIGKILL. Shortened in tests. */
  termMs?: number;
  /** Once it aborts, a process that is ending gets at most a second from the end of its input to SIGTERM. */
  haste?: AbortSignal | undefined;
}

/** How long to wait after SIGKILL for a process that the kernel keeps. Milliseconds. */
const killMs = 1000;
/** The longest time from the end of the input to SIGTERM after `haste` aborts. Milliseconds. */
const hastyInputMs = 1000;
const pollMs = 20;

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** By its path: a name would be looked for in the current folder first. */
function runTaskkill(args: readonly string[]): void {
  const system = process.env.SystemRoot ?? "C:\\Windows";
  execFile(`${system}\\System32\\taskkill.exe`, [...args], { windowsHide: true }, () => {});
}

const programFiles: ProgramFiles = {
  isFile: (path) => attempt(() => statSync(path).isFile()) === true,
  isExecutable: (path) => attempt(() => accessSync(path, constants.X_OK) ?? true) === true,
  read: (path) => attempt(() => readFileSync(path, "latin1")) ?? "",
};

export const findProgramHere = (launch: WrittenCommand): FoundProgram | undefined =>
  findProgram(launch, { platform: process.platform, node: process.execPath, files: programFiles });

/**
 * A shell script that ends process groups after the host. It gets the existing groups as arguments, and changes on its
 * stdin, which ends with the host. Then the servers have seen the end of their own input, so it waits two seconds,
 * sends SIGTERM, waits two more, and kills the rest. An ended group is forgotten immediately, because its number may be
 * reused.
 */
export const lifelineScript = `PATH=/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin
groups=$*
while read -r sign group; do
  case $sign in
  +) groups="$groups $group" ;;
  -)
    kept=
    for other in $groups; do [ "$other" = "$group" ] || kept="$kept $other"; done
    groups=$kept
    ;;
  esac
done
some_live() {
  kept=
  for group in $groups; do kill -s 0 -- "-$group" && kept="$kept $group"; done
  groups=$kept
  [ -n "$groups" ]
}
outlive() {
  ticks=$1
  while some_live; do
    [ "$ticks" -gt 0 ] || return 0
    if sleep 0.2; then ticks=$((ticks - 1)); else sleep 1 && ticks=$((ticks - 5)); fi
  done
  return 1
}
outlive 10 || exit 0
for group in $groups; do kill -s TERM -- "-$group"; done
outlive 10 || exit 0
for group in $groups; do kill -s KILL -- "-$group"; done
`;

/** How often a watcher that was killed is replaced. */
const mostRestarts = 3;

/** One watcher for all groups. Without a watcher, groups are not ended with the host. */
class Lifeline {
  readonly #groups = new Set<number>();
  #watcher: ChildProcess | undefined;
  #restarts = 0;

  /** Starts the watcher before there is a group, so that none is missed. */
  watch(): void {
    if (this.#watcher !== undefined) return;
    // A shell takes a millisecond and a megabyte to start; a Node process takes forty of each.
    const watcher = attempt(() =>
      spawn("/bin/sh", ["-c", lifelineScript, "sh", ...Array.from(this.#groups, String)], {
        cwd: "/",
        env: {},
        // Its own session, so that signals of the terminal do not reach it.
        detached: true,
        stdio: ["pipe", "ignore", "ignore"],
      }),
    );
    this.#watcher = watcher;
    // Neither keeps the host running.
    watcher?.unref();
    (watcher?.stdin as { unref?(): void } | null | undefined)?.unref?.();
    watcher?.stdin?.on("error", () => {});
    const onEnd = () => {
      if (this.#watcher !== watcher) return;
      this.#watcher = undefined;
      // The watcher was killed.
      if (this.#groups.size > 0 && this.#restarts++ < mostRestarts) this.watch();
    };
    watcher?.on("error", onEnd).on("exit", onEnd);
  }

  hold(group: number): void {
    this.#groups.add(group);
    this.#watcher?.stdin?.write(`+ ${group}\n`);
  }

  /** Forgets a group that has ended, or is zero. Without groups, the watcher ends. */
  release(group: number): void {
    this.#groups.delete(group);
    this.#watcher?.stdin?.write(`- ${group}\n`);
    if (this.#groups.size > 0) return;
    this.#watcher?.stdin?.end();
    this.#watcher = undefined;
  }
}

/** Explains why a program could not be started; Node's own message often names the wrong path. */
function describeSpawnError(
  { code, message }: Partial<NodeJS.ErrnoException>,
  { command, cwd }: ProcessLaunch,
): string {
  // A file in its place is no folder, either.
  if (!existsSync(`${cwd}/.`)) return `its folder ${quote(cwd, 400)} does not exist`;
  const name = quote(command, 400);
  // A script that is there has no interpreter.
  if (code === "ENOENT")
    return existsSync(command)
      ? `the interpreter of ${name} was not found`
      : `the command ${name} was not found (node_modules/.bin is not searched: use \`package\` for a command of a dependency)`;
  if (code === "EACCES") return `the command ${name} is not executable`;
  return `the command ${name} cannot be started (${code ?? message})`;
}

/** Of a child that has just been spawned, and cannot have exited yet. */
function supervise(
  child: ChildProcessWithoutNullStreams,
  { hasChannel }: ProcessLaunch,
  lifeline: Lifeline | undefined,
  { haste, termMs = 2000 }: ProcessPortOptions,
): SupervisedProcess {
  const { stdin, stdout, stderr, pid = 0 } = child;
  // An exit or a closed input is noticed in another way.
  for (const emitter of [child, stdin, stdout, stderr]) emitter.on("error", () => {});
  const exited = new Promise<ProcessEnd>((resolve) => {
    child.on("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
  const isLeaderAlive = () => child.exitCode === null && child.signalCode === null;
  const group =
    process.platform === "win32"
      ? createWindowsTree(pid, isLeaderAlive, runTaskkill)
      : createPosixGroup(pid, isLeaderAlive);
  let termAt = Number.POSITIVE_INFINITY;
  let ending: Promise<void> | undefined;
  /** Whether the group lives until the step `isOver`, which a later call may shorten. */
  const outlives = async (isOver: (elapsedMs: number) => boolean): Promise<boolean> => {
    const start = performance.now();
    while (group.isAlive()) {
      if (isOver(performance.now() - start)) return true;
      await (isLeaderAlive() ? Promise.race([exited, sleep(pollMs)]) : sleep(pollMs));
    }
    return false;
  };
  const endGroup = async () => {
    stdin.end();
    if (child.connected) child.disconnect();
    let hastyAt = Number.POSITIVE_INFINITY;
    const isStubborn = await outlives(() => {
      const now = performance.now();
      if (haste?.aborted) hastyAt = Math.min(hastyAt, now + hastyInputMs);
      return now >= Math.min(termAt, hastyAt) || !isLeaderAlive();
    });
    if (isStubborn) {
      group.signal("SIGTERM");
      if (await outlives((elapsedMs) => elapsedMs >= termMs)) {
        group.signal("SIGKILL");
        await outlives((elapsedMs) => elapsedMs >= killMs);
      }
    }
    lifeline?.release(pid);
  };
  // A later call may shorten the current step but not lengthen it.
  const end = (inputMs = 5000) => {
    termAt = Math.min(termAt, performance.now() + inputMs);
    ending ??= endGroup();
    return ending;
  };
  // Immediately, while the number of the group cannot be reused.
  child.on("exit", () => void end(0));
  const channel = hasChannel ? child : undefined;
  return { pid, stdin, stdout, stderr, channel, exited, end };
}

/** Starts programs as leaders of process groups. A single shell process ends those that outlive this process. */
export function createProcessPort(options: ProcessPortOptions = {}): ProcessPort {
  const isWindows = process.platform === "win32";
  // On Windows, Node's job object ends children with the host.
  const lifeline = isWindows ? undefined : new Lifeline();
  return {
    async start(launch) {
      try {
        const program = findProgramHere(launch);
        if (program === undefined) throw Object.assign(new Error(), { code: "ENOENT" });
        lifeline?.watch();
        const child = spawn(program.command, [...program.args], {
          windowsVerbatimArguments: program.verbatim,
          cwd: launch.cwd,
          env: { ...launch.env },
          detached: !isWindows,
          windowsHide: true,
          stdio: ["pipe", "pipe", "pipe", ...(launch.hasChannel ? (["ipc"] as const) : [])],
        }) as ChildProcessWithoutNullStreams;
        // At once: a host that is killed in the next moment leaves no process.
        if (child.pid !== undefined) lifeline?.hold(child.pid);
        await once(child, "spawn");
        return supervise(child, launch, lifeline, options);
      } catch (error) {
        lifeline?.release(0);
        throw new Error(describeSpawnError(error as NodeJS.ErrnoException, launch));
      }
    },
  };
}
