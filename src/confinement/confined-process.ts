import { type ChildProcess, execFile, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ReadGrants } from "./confined-grants.ts";
import { positionOfCaret } from "./confined-positions.ts";

/**
 * How a child is started, from the strictest method to the plainest:
 * `root`: without network, other processes, and files outside the folders of the granted packages;
 * `namespaces`: without network and other processes; `network`: without network;
 * `shell`: with the limits that a shell can set; `bare`: as Node starts it.
 */
export type Method = "root" | "namespaces" | "network" | "shell" | "bare";

export function methodsFor(platform: NodeJS.Platform): readonly Method[] {
  if (platform === "linux") return ["root", "namespaces", "network", "shell", "bare"];
  return platform === "win32" ? ["bare"] : ["shell", "bare"];
}

/** This Node's name of the option for the permission model; `undefined` if it has none. */
export function findPermissionOption(): string | undefined {
  const known = process.allowedNodeEnvironmentFlags;
  return ["--permission", "--experimental-permission"].find((option) => known.has(option));
}

/** Real path of the child's program. */
const program = (): string =>
  realpathSync.native(fileURLToPath(new URL("./confined-child.mjs", import.meta.url)));

const path = "PATH=/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin";

/**
 * Sets the kernel's limits (the data limit applies between two samples of the memory), and starts a process that cleans
 * up and kills the whole group when the host exits, however busy Node is.
 */
const guardScript = `${path}
ulimit -c 0
ulimit -d "$1" 2>/dev/null
shift
( read -r line <&4; rm -f "$TMPDIR/mounts"; rmdir "$TMPDIR/root" "$TMPDIR"; kill -s KILL 0 ) >/dev/null 2>&1 3>&- &
exec 4<&-
exec "$@"
`;

/** In separate namespaces: a file system that contains only what is mounted here, read-only if possible. */
const rootScript = `${path}
root=$1/root
mount -t tmpfs -o size=1m,mode=755 none "$root" || exit
mount -a -T "$1/mounts" 2>/dev/null
mkdir -p "$root$1" "$root/etc" || exit
echo "root:x:0:0::$1:" >"$root/etc/passwd"
shift
exec chroot "$root" "$@"
`;

/** The folders that Node itself needs. */
const systemFolders = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/nodejs"];

const escapeMount = (text: string): string =>
  text.replace(/[\\\s#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`);

/** Writes a table for `mount -a`: each path is mounted at the same place under the new root. */
function writeMountTable(temporary: string, paths: readonly string[]): void {
  mkdirSync(join(temporary, "root"));
  const lines = paths.map((source) => {
    const target = escapeMount(join(temporary, "root", source));
    return `${escapeMount(source)} ${target} none rbind,ro,X-mount.mkdir 0 0\n`;
  });
  writeFileSync(join(temporary, "mounts"), lines.join(""));
}

export interface ConfinedOptions {
  method: Method;
  permissionOption: string | undefined;
  /** The files that the pack's code may read. */
  grants: ReadGrants;
  heapMiB: number;
  /** The limit of the child's private memory, in MiB. */
  dataMiB: number;
}

export interface ConfinedProcess {
  readonly child: ChildProcess;
  /** Kills the child and everything that it started. */
  kill(): void;
  /** Resident memory of the child's processes in bytes; 0 if it is unknown. */
  residentBytes(): number;
  /** Removes the child's temporary folder. */
  cleanUp(): void;
}

/** Of a process and its descendants, in KiB. */
function residentKiB(pid: number | string): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    const own = Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0);
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ");
    return children.reduce((sum, child) => (child === "" ? sum : sum + residentKiB(child)), own);
  } catch {
    return 0;
  }
}

function commandFor(method: Method, temporary: string, dataMiB: number, node: readonly string[]): string[] {
  if (method === "bare") return [...node];
  const guarded = ["/bin/sh", "-c", guardScript, "sh", String(dataMiB * 1024)];
  switch (method) {
    case "shell":
      return [...guarded, ...node];
    case "network":
      return [...guarded, "unshare", "-rn", ...node];
    case "namespaces":
      return [...guarded, "unshare", "-rnpf", "--kill-child", ...node];
    case "root":
      return [
        ...[...guarded, "unshare", "-rnmpf", "--kill-child"],
        ...["/bin/sh", "-c", rootScript, "sh", temporary, ...node],
      ];
  }
}

/** Removes only what was created here: a file system that is still mounted must not be emptied. */
function removeTemporary(temporary: string): void {
  rmSync(join(temporary, "mounts"), { force: true });
  for (const folder of [join(temporary, "root"), temporary]) {
    try {
      rmdirSync(folder);
    } catch {
      // It does not exist, or it is not empty.
    }
  }
}

/** Starts the child: stdin takes the request, descriptor 3 returns answers, all other output is dropped. */
export function startConfined(options: ConfinedOptions): ConfinedProcess {
  const { method, permissionOption, grants, heapMiB, dataMiB } = options;
  const temporary = realpathSync.native(mkdtempSync(join(tmpdir(), "trailblaze-confined-")));
  const cleanUp = () => removeTemporary(temporary);
  try {
    const executable = realpathSync.native(process.execPath);
    const script = program();
    if (method === "root") {
      const system = systemFolders.filter((folder) => existsSync(folder));
      const seen = [...system, dirname(executable), dirname(script), ...grants.visible];
      writeMountTable(temporary, seen);
    }
    const permissions = [script, temporary, ...grants.readable, ...grants.absent]
      .filter((granted) => !granted.includes("*"))
      .map((granted) => `--allow-fs-read=${granted}`);
    const node = [
      executable,
      ...(permissionOption === undefined ? [] : [permissionOption, ...permissions]),
      `--max-old-space-size=${heapMiB}`,
      // Otherwise a new Buffer could contain earlier contents of memory.
      "--zero-fill-buffers",
      "--no-addons",
      "--no-global-search-paths",
      "--no-warnings",
      script,
    ];
    const [command = executable, ...args] = commandFor(method, temporary, dataMiB, node);
    const isWindows = process.platform === "win32";
    const child = spawn(command, args, {
      cwd: temporary,
      env: isWindows ? { TEMP: temporary, TMP: temporary } : { TMPDIR: temporary },
      // A process group of its own; on Windows, the job object of this process replaces it.
      detached: !isWindows,
      windowsHide: true,
      stdio: ["pipe", "ignore", "ignore", "pipe", "pipe"],
    });
    let isOver = false;
    const kill = () => {
      child.stdio?.[4]?.destroy();
      if (child.pid === undefined || isOver) return;
      // After the exit, its number may be reused.
      isOver = child.exitCode !== null || child.signalCode !== null;
      try {
        if (isWindows) child.kill("SIGKILL");
        else process.kill(-child.pid, "SIGKILL");
      } catch {
        // The group has ended.
      }
    };
    const residentBytes = () =>
      process.platform === "linux" && child.pid !== undefined ? residentKiB(child.pid) * 1024 : 0;
    return { child, kill, residentBytes, cleanUp };
  } catch (error) {
    cleanUp();
    throw error;
  }
}

/**
 * The position of a syntax error in source code; `undefined` if there is none. Like `findSyntaxError`, for code that is not
 * read from a file.
 */
export function findSyntaxErrorIn(
  text: string,
  kind: "esm" | "commonjs",
): Promise<{ line: number; column?: number } | undefined> {
  const args = ["--no-warnings", "--check", `--input-type=${kind === "esm" ? "module" : "commonjs"}`, "-"];
  const options = { env: {}, timeout: 2000, maxBuffer: 1 << 20, windowsHide: true };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, options, (_error, _stdout, stderr) => {
      // At an unexpected end of input, Node prints a line without a caret.
      const [, line] = /^\[stdin\]:(\d{1,7})$/m.exec(stderr) ?? [];
      resolve(
        positionOfCaret(stderr, "[stdin]") ?? (line === undefined ? undefined : { line: Number(line) }),
      );
    });
    // A child that exits early closes its stdin.
    child.stdin?.on("error", () => {});
    child.stdin?.end(text);
  });
}

/**
 * The position of a syntax error in a file; `undefined` if there is none. The file is parsed in a separate process and
 * not run.
 */
export function findSyntaxError(file: string): Promise<{ line: number; column?: number } | undefined> {
  const options = { env: {}, cwd: dirname(file), timeout: 2000, maxBuffer: 1 << 20, windowsHide: true };
  return new Promise((resolve) => {
    execFile(process.execPath, ["--check", file], options, (_error, _stdout, stderr) => {
      resolve(positionOfCaret(stderr, file));
    });
  });
}
