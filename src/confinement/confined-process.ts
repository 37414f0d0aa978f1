import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";
import { maximumDepth } from "../data/parse-json.ts";
import { isBelow, realPathOf } from "../files/node-inspection-port.ts";

/** Where the system's programs are, whatever the PATH of this process says. */
const systemPath = "/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin";

/** Limits of the kernel: no core dumps, at most 1 GiB of private memory, and no life beyond that of this process. */
const bound = ["prlimit", "--core=0", `--data=${1 << 30}`, "setpriv", "--pdeathsig", "KILL"];

/** Command lines that start a program, strictest first. */
const launchers = [["unshare", "-rn", ...bound], bound, ["/bin/sh", "-c", 'ulimit -t 60; exec "$@"', "sh"]];

function findLauncher(usable: readonly (readonly string[])[]): readonly string[] {
  if (process.platform === "win32") return [];
  const works = ([command = "", ...args]: readonly string[]) =>
    spawnSync(command, [...args, "true"], { env: { PATH: systemPath } }).status === 0;
  return usable.find(works) ?? [];
}

let launcher: readonly string[] | undefined;

/** How this machine starts a child; `hasNetwork` leaves the network to the permission model, as on other systems. */
export function chooseLauncher(hasNetwork: boolean): readonly string[] {
  if (hasNetwork) return findLauncher(launchers.slice(1));
  launcher ??= findLauncher(launchers);
  return launcher;
}

/** Whether a child of this launcher has a network namespace of its own. */
export const isolatesNetwork = ([command]: readonly string[]): boolean => command === "unshare";

/** This Node's name of the option for the permission model; `undefined` if it has none. */
export const permissionOption: string | undefined = ["--permission", "--experimental-permission"].find(
  (option) => process.allowedNodeEnvironmentFlags.has(option),
);

/** The links in a `node_modules` folder and in its scopes. */
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
  for (let at = root; ; at = dirname(at)) {
    const folder = join(at, "node_modules");
    const real = basename(at) === "node_modules" ? undefined : realPathOf(folder);
    // A link may lead to another node_modules, but nowhere else.
    if (real !== undefined && basename(real) === "node_modules") {
      readable.push(folder, real);
      workspace = at;
    }
    if (at === dirname(at)) break;
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

/** How a child ended. */
export type ChildEnd =
  | { cause: "done" | "time" | "answer" | "answers" | "aborted" | "notStarted" }
  | { cause: "exit"; code: number | null; signal: NodeJS.Signals | null };

export interface RunOptions {
  launcher: readonly string[];
  readable: readonly string[];
  /** Real paths of the files to evaluate, in order. */
  files: readonly string[];
  /** Wall time for all files, in milliseconds. */
  wallMs: number;
  heapMiB: number;
  answerBytes: number;
  /** Why an answer is not taken that has more bytes. */
  tooLarge: string;
  /** The limit for all answers, in bytes. */
  packAnswerBytes: number;
  /** Kills the child. */
  signal: AbortSignal | undefined;
}

export interface RunResult {
  /** One per file, from the first on; fewer if the child ended early. */
  answers: Answer[];
  end: ChildEnd;
}

/** Starts the child: stdin takes the request, descriptor 3 returns answers, all other output is dropped. */
function start({ launcher: prefix, readable, heapMiB }: RunOptions, temporary: string): ChildProcess {
  const script = realpathSync.native(fileURLToPath(new URL("./confined-child.mjs", import.meta.url)));
  const grants = [script, temporary, ...readable].map((path) => `--allow-fs-read=${path}`);
  const [command = "", ...args] = [
    ...prefix,
    realpathSync.native(process.execPath),
    ...(permissionOption === undefined ? [] : [permissionOption, ...grants]),
    `--max-old-space-size=${heapMiB}`,
    ...["--no-addons", "--no-global-search-paths", "--no-warnings", script],
  ];
  const isWindows = process.platform === "win32";
  return spawn(command, args, {
    cwd: temporary,
    env: isWindows ? { TEMP: temporary, TMP: temporary } : { PATH: systemPath, TMPDIR: temporary },
    // A process group of its own; on Windows, the job object of this process replaces it.
    detached: !isWindows,
    windowsHide: true,
    stdio: ["pipe", "ignore", "ignore", "pipe"],
  });
}

/** Bytes for the index and a fault besides the data. */
const overhead = 32 << 10;
/** How long a killed child's last output may take to arrive. Milliseconds. */
const drainMs = 500;

function attend(child: ChildProcess, options: RunOptions): Promise<RunResult> {
  const answers: Answer[] = [];
  let stopped: ChildEnd | undefined;
  const kill = () => {
    // After the exit, its number may be reused.
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    try {
      if (process.platform === "win32") child.kill("SIGKILL");
      else process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  };
  const stop = (cause: Exclude<ChildEnd["cause"], "exit">) => {
    stopped ??= { cause };
    kill();
  };
  const readLine = (line: Buffer) => {
    const head = /^(\d+) (value|fault) /.exec(line.subarray(0, 32).toString("latin1"));
    if (head === null || Number(head[1]) !== answers.length) {
      foreign += line.length + 1;
      return;
    }
    answers.push({ kind: head[2] as Answer["kind"], json: line.subarray(head[0].length) });
    if (answers.length === options.files.length) stop("done");
  };

  const timer = setTimeout(() => stop("time"), options.wallMs);
  const abort = () => stop("aborted");
  options.signal?.addEventListener("abort", abort);
  if (options.signal?.aborted) abort();

  let pending: Buffer = Buffer.alloc(0);
  let received = 0;
  /** Bytes of lines that are the pack's own. */
  let foreign = 0;
  // With too many open files, a child has no pipes.
  const pipe = child.stdio?.[3] as Readable | undefined;
  const drained = new Promise<void>((resolve) => {
    if (pipe === undefined) return resolve();
    pipe.on("data", (chunk: Buffer) => {
      if (stopped !== undefined) return;
      received += chunk.length;
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      for (let end = pending.indexOf("\n"); end >= 0 && stopped === undefined; end = pending.indexOf("\n")) {
        readLine(pending.subarray(0, end));
        pending = pending.subarray(end + 1);
      }
      if (foreign + pending.length > options.answerBytes + overhead) stop("answer");
      else if (received > options.packAnswerBytes) stop("answers");
    });
    pipe.on("error", () => resolve());
    pipe.on("close", () => resolve());
  });
  // A child that exits before it has read the request is noticed by its exit.
  child.stdin?.on("error", () => {});
  const { files, answerBytes, tooLarge, wallMs } = options;
  child.stdin?.end(JSON.stringify({ files, answerBytes, tooLarge, wallMs, maximumDepth }));

  return new Promise((resolve) => {
    const finish = async (end: ChildEnd) => {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", abort);
      const late = setTimeout(() => pipe?.destroy(), drainMs);
      await drained;
      clearTimeout(late);
      resolve({ answers, end: stopped ?? end });
    };
    child.on("error", () => finish({ cause: "notStarted" }));
    child.on("exit", (code, signal) => finish({ cause: "exit", code, signal }));
  });
}

/** Runs one child until it ends, and removes its temporary folder. */
export async function runConfined(options: RunOptions): Promise<RunResult> {
  let temporary: string | undefined;
  try {
    temporary = realpathSync.native(mkdtempSync(join(tmpdir(), "trailblaze-confined-")));
    return await attend(start(options, temporary), options);
  } catch {
    // There is no space for a folder, or no memory for a process.
    return { answers: [], end: { cause: "notStarted" } };
  } finally {
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
  }
}

/** Counts from 1. */
export interface Position {
  line: number;
  column?: number;
}

const escapeExpression = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** The file in Node's output, as a path or as a URL. */
const namesOf = (file: string): string =>
  `(?:${escapeExpression(file)}|${escapeExpression(pathToFileURL(file).href)})`;

/**
 * The position at which Node points in a file: `FILE:LINE`, the line of source, and a caret below. `text` may not be
 * Node's output.
 */
export function positionOfCaret(text: string, file: string): Position | undefined {
  const found = new RegExp(`^${namesOf(file)}:(\\d{1,7})\\r?\\n[^\\n]*\\n([ \\t]*)\\^`).exec(text);
  return found === null ? undefined : { line: Number(found[1]), column: (found[2] ?? "").length + 1 };
}

/** The topmost position in the file in a stack. */
export function positionInStack(stack: string, file: string): Position | undefined {
  const caret = positionOfCaret(stack, file);
  if (caret !== undefined) return caret;
  const found = new RegExp(`[ (]${namesOf(file)}:(\\d{1,7}):(\\d{1,7})`).exec(stack);
  return found === null ? undefined : { line: Number(found[1]), column: Number(found[2]) };
}

/** What Node writes about source code that it parses in a separate process and does not run; `text` is its stdin. */
function parseWithNode(args: readonly string[], cwd?: string, text?: string): Promise<string> {
  const options = { env: {}, cwd, timeout: 2000, maxBuffer: 1 << 20, windowsHide: true };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, ["--check", ...args], options, (_error, _stdout, stderr) =>
      resolve(stderr),
    );
    // A child that exits early closes its stdin.
    child.stdin?.on("error", () => {});
    child.stdin?.end(text);
  });
}

/** The message and the position of a syntax error in source code; `undefined` if Node finds none. */
export async function findSyntaxErrorIn(
  text: string,
  kind: "esm" | "commonjs",
): Promise<({ reason: string } & Partial<Position>) | undefined> {
  const type = `--input-type=${kind === "esm" ? "module" : "commonjs"}`;
  const stderr = await parseWithNode(["--no-warnings", type, "-"], undefined, text);
  const [, reason] = /^SyntaxError: (.*?)\.?$/m.exec(stderr) ?? [];
  // At an unexpected end of input, Node prints a line without a caret.
  const [, line] = /^\[stdin\]:(\d{1,7})$/m.exec(stderr) ?? [];
  const position = positionOfCaret(stderr, "[stdin]") ?? (line === undefined ? {} : { line: Number(line) });
  return reason === undefined ? undefined : { reason, ...position };
}

/** The position of a syntax error in a file; `undefined` if there is none. */
export const findSyntaxError = async (file: string): Promise<Position | undefined> =>
  positionOfCaret(await parseWithNode([file], dirname(file)), file);
