import { execFile, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isBelow, realPathOf } from "../files/node-inspection-port.ts";
import { formatSize } from "../problems/text.ts";

/** Where the system's programs are, whatever the PATH of this process says. */
const systemPath = "/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin";

/** Runs a command without a network, and ends it together with this process. */
const withoutNetwork = ["unshare", "-rn", "setpriv", "--pdeathsig", "KILL"];
let canIsolate: boolean | undefined;

/** Whether a child has a network namespace of its own; with `hasNetwork`, it keeps the host's. */
export function isolatesNetwork(hasNetwork: boolean): boolean {
  const [command = "", ...args] = [...withoutNetwork, "true"];
  canIsolate ??=
    process.platform === "linux" && spawnSync(command, args, { env: { PATH: systemPath } }).status === 0;
  return canIsolate && !hasNetwork;
}

/** This Node's name of the option for the permission model; `undefined` if it has none. */
export const permissionOption: string | undefined = ["--permission", "--experimental-permission"].find(
  (option) => process.allowedNodeEnvironmentFlags.has(option),
);

function findLinks(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isSymbolicLink()) return path;
      return entry.isDirectory() && entry.name.startsWith("@") ? findLinks(path) : [];
    });
  } catch {
    return [];
  }
}

/**
 * What a pack's code may read: its folder, the `node_modules` folders above it, and the packages of the workspace that
 * these link to. `root` is a real path.
 */
export function findReadable(root: string): string[] {
  const readable = [root];
  let workspace = root;
  for (let at = root; at !== dirname(at); at = dirname(at)) {
    const folder = join(at, "node_modules");
    const real = basename(at) === "node_modules" ? undefined : realPathOf(folder);
    // A link may lead to another node_modules, but nowhere else.
    if (real === undefined || basename(real) !== "node_modules") continue;
    readable.push(folder, real);
    workspace = at;
  }
  for (const link of readable.slice(1).flatMap(findLinks)) {
    const real = realPathOf(link);
    // A folder around the pack would reveal its neighbors, and a pack could create a link to anything.
    if (real === undefined || isBelow(real, root) || !isBelow(workspace, real)) continue;
    const isCovered = readable.some((folder) => isBelow(folder, real));
    if (!isCovered && existsSync(join(real, "package.json"))) readable.push(real);
  }
  // The permission model treats `*` as a wildcard, wherever it is.
  return [...new Set(readable)].filter((path) => !path.includes("*"));
}

/** The child's answer for a file. Not trusted more than the pack. */
export interface Answer {
  kind: "value" | "fault";
  json: Uint8Array;
}

export interface Limits {
  /** Wall time of a child, in milliseconds. */
  wallMs: number;
  /** Wall time of all children of a pack combined, in milliseconds. */
  packMs: number;
  heapMiB: number;
  answerBytes: number;
  /** All answers of a pack combined, which the host keeps. */
  packBytes: number;
}

export interface RunOptions {
  readable: readonly string[];
  /** Real paths of the files to evaluate, in order. */
  files: readonly string[];
  limits: Limits;
  hasNetwork: boolean;
  signal: AbortSignal | undefined;
}

export interface RunResult {
  /** One per file, from the first on; fewer if the child ended early. */
  answers: Answer[];
  /** Why the file after these has no answer, in words. */
  end: string;
}

export const interrupted = "it was interrupted";
/** Node's exit code for a top-level `await` that never settles. */
const unsettledAwait = 13;
/** The exit code of Windows for a process that aborts, as V8 does without memory. */
const abortExitCode = 134;

function describeExit(code: number | null, signal: string | null, { heapMiB }: Limits): string {
  // Only this process and the kernel signal it.
  if (signal !== null || code === abortExitCode) return `it needed more than ${heapMiB} MiB of memory`;
  return code === unsettledAwait
    ? "its top-level await never settles"
    : `it ended the process (exit code ${code})`;
}

/** Starts the child: stdin takes the request, descriptor 3 returns answers, all other output is dropped. */
function start({ readable, limits, hasNetwork }: RunOptions, temporary: string) {
  const script = realpathSync.native(fileURLToPath(new URL("./confined-child.mjs", import.meta.url)));
  const grants = [script, temporary, ...readable].map((path) => `--allow-fs-read=${path}`);
  // No core dumps, at most 1 GiB of private memory, and an end on every system, even if this process is gone.
  const seconds = Math.ceil(limits.wallMs / 1000) * 2 + 1;
  const bound = `ulimit -c 0; ulimit -d 1048576; ulimit -t ${seconds}; exec "$@"`;
  const [command = "", ...args] = [
    ...(isolatesNetwork(hasNetwork) ? withoutNetwork : []),
    ...(existsSync("/bin/sh") ? ["/bin/sh", "-c", bound, "sh"] : []),
    realpathSync.native(process.execPath),
    ...(permissionOption === undefined ? [] : [permissionOption, ...grants]),
    `--max-old-space-size=${limits.heapMiB}`,
    ...["--no-addons", "--no-global-search-paths", "--no-warnings", script],
  ];
  return spawn(command, args, {
    cwd: temporary,
    env: { PATH: systemPath },
    windowsHide: true,
    stdio: ["pipe", "ignore", "ignore", "pipe"],
  });
}

/** Bytes for the index and a fault besides the data. */
const overhead = 32 << 10;

function attend(child: ReturnType<typeof start>, options: RunOptions): Promise<RunResult> {
  const { files, limits, signal } = options;
  const tooLarge = `its result is larger than ${formatSize(limits.answerBytes)}`;
  const answers: Answer[] = [];
  let stopped: string | undefined;
  const stop = (reason: string) => {
    stopped ??= reason;
    child.kill("SIGKILL");
  };
  let unread = Buffer.alloc(0);
  /** Bytes since the last answer. */
  let received = 0;
  let { packBytes } = limits;
  const readChunk = (chunk: Buffer) => {
    if (stopped !== undefined) return;
    unread = Buffer.concat([unread, chunk]);
    received += chunk.length;
    for (let end = unread.indexOf("\n"); end >= 0 && stopped === undefined; end = unread.indexOf("\n")) {
      const line = unread.subarray(0, end);
      unread = unread.subarray(end + 1);
      const [head = "", index, kind] = /^(\d+) (value|fault) /.exec(line.toString("latin1", 0, 32)) ?? [];
      // Other lines are the pack's own.
      if (Number(index) !== answers.length) continue;
      answers.push({ kind: kind as Answer["kind"], json: line.subarray(head.length) });
      received = unread.length;
      packBytes -= line.length;
      if (answers.length === files.length || packBytes < 0) stop("");
    }
    if (received > limits.answerBytes + overhead) stop(tooLarge);
  };
  const tooLong = `it took longer than ${Math.round(limits.wallMs / 100) / 10} s`;
  const timer = setTimeout(() => stop(tooLong), limits.wallMs);
  const abort = () => stop(interrupted);
  signal?.addEventListener("abort", abort);
  // With too many open files, a child has no pipes. One that exits before it has read the request is noticed by its exit.
  (child.stdio?.[3] as Readable | undefined)?.on("data", readChunk).on("error", () => {});
  child.stdin?.on("error", () => {});
  const { wallMs, answerBytes } = limits;
  child.stdin?.end(JSON.stringify({ files, answerBytes, tooLarge, wallMs }));
  return new Promise((resolve) => {
    const finish = (end: string) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      resolve({ answers, end: stopped ?? end });
    };
    child.on("error", () => finish(notStarted));
    child.on("close", (code, ended) => finish(describeExit(code, ended, limits)));
  });
}

const notStarted = "its process could not be started";

export async function runConfined(options: RunOptions): Promise<RunResult> {
  let temporary: string | undefined;
  try {
    temporary = realpathSync.native(mkdtempSync(join(tmpdir(), "trailblaze-confined-")));
    return await attend(start(options, temporary), options);
  } catch {
    // There is no space for a folder, or no memory for a process.
    return { answers: [], end: notStarted };
  } finally {
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
  }
}

/** Counts from 1. */
export interface Position {
  line: number;
  column?: number;
}

const caret = /^[^\n]*?:(\d{1,7})\r?\n[^\n]*\n([ \t]*)\^/;

/** The topmost position in the file in a stack, which may be the pack's own text: at a caret, or `FILE:LINE:COLUMN`. */
export function positionInStack(stack: string, file: string): Position | undefined {
  for (const name of [`${pathToFileURL(file).href}:`, `${file}:`]) {
    const [, line, before] = (stack.startsWith(name) ? caret.exec(stack) : null) ?? [];
    if (line !== undefined) return { line: Number(line), column: (before ?? "").length + 1 };
    const [, below, column] = /^(\d{1,7}):(\d{1,7})/.exec(stack.split(name)[1] ?? "") ?? [];
    if (below !== undefined) return { line: Number(below), column: Number(column) };
  }
  return undefined;
}

/** What Node says of source code that it parses in a separate process and does not run; `undefined` if it finds no error. */
export async function findSyntaxErrorIn(
  text: string,
  kind: "esm" | "commonjs",
): Promise<({ reason: string } & Partial<Position>) | undefined> {
  const type = `--input-type=${kind === "esm" ? "module" : "commonjs"}`;
  const options = { env: {}, timeout: 2000, maxBuffer: 1 << 20, windowsHide: true };
  const stderr = await new Promise<string>((resolve) => {
    const args = ["--check", "--no-warnings", type, "-"];
    const child = execFile(process.execPath, args, options, (_error, _stdout, output) => resolve(output));
    // A child that exits early closes its stdin.
    child.stdin?.on("error", () => {});
    child.stdin?.end(text);
  });
  const [, reason] = /^SyntaxError: (.*?)\.?$/m.exec(stderr) ?? [];
  if (reason === undefined) return undefined;
  const [, line, before] = caret.exec(stderr) ?? [];
  if (line !== undefined) return { reason, line: Number(line), column: (before ?? "").length + 1 };
  // At an unexpected end of input, Node prints a line without a caret.
  const [, last] = /^\[stdin\]:(\d{1,7})$/m.exec(stderr) ?? [];
  return last === undefined ? { reason } : { reason, line: Number(last) };
}
