import { execFile, spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { lazy } from "../data/memoize.ts";
import { DataSyntaxError, isRecord, parseJson } from "../data/parse-json.ts";
import { attempt } from "../files/file-errors.ts";
import { isBelow } from "../files/inspection-port.ts";
import { inspectionPort } from "../files/node-inspection-port.ts";
import { makeTemporary, removeTemporary } from "../files/temporary-folders.ts";
import { failure } from "../problems/problem.ts";
import { formatSize, printable, shorten } from "../problems/text.ts";

/** How a pack's code was confined while it was evaluated; `"data"`: no code was evaluated. */
export type Confinement = "data" | "permission" | "permission+netns" | "none";

/** The result for one file. The position counts from 1 and is in that file. */
export type EvaluatedFile =
  | { value: unknown }
  | {
      reason: string;
      /** The package that was not found, if that is the reason. */
      missingPackage?: string | undefined;
      line?: number;
      column?: number;
    };

const defaultLimits = {
  /** Wall time of a child, in milliseconds. */
  wallMs: 5000,
  /** Wall time of all children of a pack combined, in milliseconds. */
  packMs: 15_000,
  heapMiB: 256,
  answerBytes: 1 << 20,
  /** All answers of a pack combined, which the host keeps. */
  packBytes: 64 << 20,
};

export interface EvaluationOptions {
  /** Throws `ConfinementUnavailable` if the permission model is not available. */
  requireConfinement?: boolean | undefined;
  /** Kills the child processes; the remaining files get a reason. */
  signal?: AbortSignal | undefined;
  limits?: Partial<typeof defaultLimits>;
  /** Keeps the network of the host, as on systems without namespaces. Set in tests. */
  hasNetwork?: boolean;
}

/** Where the system's programs are, whatever the PATH of this process says. */
const systemPath = "/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin";

/** Runs a command without a network, and ends it together with this process. */
const withoutNetwork = ["unshare", "-rn", "setpriv", "--pdeathsig", "KILL"];

const isolatesNetwork = lazy(() => {
  const [command = "", ...args] = [...withoutNetwork, "true"];
  return process.platform === "linux" && spawnSync(command, args, { env: { PATH: systemPath } }).status === 0;
});

/** This Node's name of the option for the permission model; `undefined` if it has none. */
const permissionOption = ["--permission", "--experimental-permission"].find((option) =>
  process.allowedNodeEnvironmentFlags.has(option),
);

function findLinks(folder: string): string[] {
  const entries = attempt(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isSymbolicLink()) return path;
    return entry.isDirectory() && entry.name.startsWith("@") ? findLinks(path) : [];
  });
}

/**
 * What a pack's code may read: its folder, the `node_modules` folders above it, and the packages of the workspace that
 * these link to. `root` is a real path.
 */
function findReadable(root: string): string[] {
  const readable = [root];
  let workspace = root;
  for (let at = root; at !== dirname(at); at = dirname(at)) {
    const folder = join(at, "node_modules");
    const real = basename(at) === "node_modules" ? undefined : inspectionPort.realPath(folder);
    // A link may lead to another node_modules, but nowhere else.
    if (real === undefined || basename(real) !== "node_modules") continue;
    readable.push(folder, real);
    workspace = at;
  }
  for (const link of readable.slice(1).flatMap(findLinks)) {
    const real = inspectionPort.realPath(link);
    // A folder around the pack would reveal its neighbors, and a pack could create a link to anything.
    if (real === undefined || isBelow(real, root) || !isBelow(workspace, real)) continue;
    const isCovered = readable.some((folder) => isBelow(folder, real));
    if (!isCovered && existsSync(join(real, "package.json"))) readable.push(real);
  }
  // The permission model treats `*` as a wildcard, wherever it is.
  return [...new Set(readable)].filter((path) => !path.includes("*"));
}

interface Run {
  /** A folder of its own, by its real path. */
  temporary: string;
  readable: readonly string[];
  /** Real paths of the files to evaluate, in order. */
  files: readonly string[];
  limits: typeof defaultLimits;
  isIsolated: boolean;
  signal: AbortSignal | undefined;
}

/** Starts the child: stdin takes the request, descriptor 3 returns answers, all other output is dropped. */
function start({ temporary, readable, limits, isIsolated, signal }: Run) {
  const script = realpathSync.native(fileURLToPath(new URL("./confined-child.mjs", import.meta.url)));
  const grants = [script, temporary, ...readable].map((path) => `--allow-fs-read=${path}`);
  // No core dumps, at most 1 GiB of private memory, and an end on every system, even if this process is gone.
  const seconds = Math.ceil(limits.wallMs / 1000) * 2 + 1;
  const bound = `ulimit -c 0; ulimit -d 1048576; ulimit -t ${seconds}; exec "$@"`;
  const [command = "", ...args] = [
    ...(isIsolated ? withoutNetwork : []),
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
    signal,
    timeout: limits.wallMs,
    killSignal: "SIGKILL",
  });
}

const interrupted = "it was interrupted";
const notStarted = "its process could not be started";
/** Node's exit code for a top-level `await` that never settles. */
const unsettledAwait = 13;
/** The exit code of Windows for a process that aborts, as V8 does without memory. */
const abortExitCode = 134;
/** Bytes for the index and a fault besides the data. */
const overhead = 32 << 10;

/** The answer for a file, as JSON. Not trusted more than the pack. */
interface Answer {
  kind: string | undefined;
  json: Uint8Array;
}

const answerLine = /^(\d{1,7}) (value|fault) (.*)\n/gm;

/**
 * Evaluates files in a new child, in order. If it ends early, there are fewer answers than files, and `end` says in words why the
 * next one has none.
 */
async function runChild(run: Run): Promise<{ answers: Answer[]; end: string }> {
  const { files, signal } = run;
  const { wallMs, heapMiB, answerBytes, packBytes } = run.limits;
  const tooLarge = `its result is larger than ${formatSize(answerBytes)}`;
  const child = start(run);
  const chunks: Buffer[] = [];
  let left = packBytes + answerBytes + overhead;
  // With too many open files, a child has no pipes. One that exits before it has read the request is noticed by its exit.
  const pipe = child.stdio?.[3] as Readable | undefined;
  pipe?.on("error", () => {});
  pipe?.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) child.kill("SIGKILL");
    else chunks.push(chunk);
  });
  child.stdin?.on("error", () => {});
  child.stdin?.end(JSON.stringify({ files, answerBytes, tooLarge, wallMs }));
  const end = await new Promise<string>((resolve) => {
    // An abort is an error, too, after which the child ends.
    child.on("error", () => child.pid === undefined && resolve(notStarted));
    child.on("close", (code, ended) => {
      if (signal?.aborted) resolve(interrupted);
      else if (left < 0) resolve(tooLarge);
      else if (child.killed) resolve(`it took longer than ${Math.round(wallMs / 100) / 10} s`);
      // Otherwise, only the kernel signals it.
      else if (ended !== null || code === abortExitCode)
        resolve(`it needed more than ${heapMiB} MiB of memory`);
      else if (code === unsettledAwait) resolve("its top-level await never settles");
      else resolve(`it ended the process (exit code ${code})`);
    });
  });
  const answers: Answer[] = [];
  // Other lines are the pack's own.
  for (const [, index, kind, json = ""] of Buffer.concat(chunks).toString("latin1").matchAll(answerLine)) {
    if (Number(index) !== answers.length || answers.length === files.length) continue;
    // Only a pack that writes answers itself exceeds the limit.
    if (json.length > answerBytes + overhead) return { answers, end: tooLarge };
    answers.push({ kind, json: Buffer.from(json, "latin1") });
  }
  return { answers, end };
}

const caret = /^[^\n]*?:(\d{1,7})\r?\n[^\n]*\n([ \t]*)\^/;

/** The topmost position in the file in a stack, which may be the pack's own text: at a caret, or `FILE:LINE:COLUMN`. From 1. */
function positionInStack(stack: string, file: string): { line: number; column?: number } | undefined {
  for (const name of [`${pathToFileURL(file).href}:`, `${file}:`]) {
    const [, line, before] = (stack.startsWith(name) ? caret.exec(stack) : null) ?? [];
    if (line !== undefined) return { line: Number(line), column: (before ?? "").length + 1 };
    // At an unexpected end of input, there is only a line.
    const [, below, column] = /^(\d{1,7})(?::(\d{1,7}))?/.exec(stack.split(name)[1] ?? "") ?? [];
    if (below !== undefined) return { line: Number(below), ...(column && { column: Number(column) }) };
  }
  return undefined;
}

/** What Node says of source code that it parses in a separate process and does not run; `undefined` if it finds no error. */
export async function findSyntaxErrorIn(text: string, kind: "esm" | "commonjs") {
  const type = `--input-type=${kind === "esm" ? "module" : "commonjs"}`;
  const options = { env: {}, timeout: 2000, maxBuffer: 1 << 20, windowsHide: true };
  const run = promisify(execFile)(process.execPath, ["--check", "--no-warnings", type, "-"], options);
  // A child that exits early closes its stdin.
  run.child.stdin?.on("error", () => {});
  run.child.stdin?.end(text);
  const { stderr } = await run.catch((error: { stderr: string }) => error);
  const [, reason] = /^SyntaxError: (.*?)\.?$/m.exec(stderr) ?? [];
  return reason === undefined ? undefined : { reason, ...positionInStack(stderr, "[stdin]") };
}

const missingPackagePattern = /Cannot find (?:package|module) '((?:@[\w.~-]+\/)?\w[\w.~-]*)(?:\/[\w.~/-]*)?'/;

/** Node's messages for a file in the wrong format; the rest of the first one names a path of this machine. */
const usesCommonJs = /^((?:module|exports|require|__dirname|__filename) is not defined in ES module scope)/;
const usesEsModule =
  /^(?:Cannot use import statement outside a module|Unexpected token 'export'|Cannot use 'import\.meta')/;

/** The reason and the position for a file without a value; the pack controls both. */
async function describeFault(
  fault: Readonly<Record<string, unknown>>,
  file: string,
  deadline: number,
): Promise<EvaluatedFile> {
  const text = (key: string): string => (typeof fault[key] === "string" ? fault[key] : "");
  if (text("reason") !== "") return { reason: shorten(printable(text("reason")), 200) };
  const [, commonJs] = usesCommonJs.exec(text("message")) ?? [];
  // Node adds what imports a missing module.
  const written = text("message")
    .replace(/\nRequire stack:.*/s, "")
    .replace(` imported from ${file}`, "");
  const message = commonJs ?? shorten(printable(written), 200);
  // A failed link is a SyntaxError, too, and differs only in its message. For modules, Node gives no position.
  const mayBeSyntax = fault.isSyntaxError === true && !message.startsWith("The requested module");
  if (mayBeSyntax && performance.now() < deadline) {
    const isModule = !file.endsWith(".cjs") && !usesEsModule.test(message);
    const wrong = await findSyntaxErrorIn(readFileSync(file, "utf8"), isModule ? "esm" : "commonjs");
    if (wrong !== undefined) return { ...wrong, reason: `it is not valid JavaScript: ${message}` };
  }
  return {
    reason: message === "" ? "it threw an error without a message" : `it threw: ${message}`,
    missingPackage: missingPackagePattern.exec(message)?.[1],
    ...positionInStack(text("stack"), file),
  };
}

async function readAnswer({ kind, json }: Answer, file: string, deadline: number): Promise<EvaluatedFile> {
  try {
    const { value } = parseJson(json);
    return kind === "value" ? { value } : await describeFault(isRecord(value) ? value : {}, file, deadline);
  } catch (error) {
    return { reason: error instanceof DataSyntaxError ? error.reason : "its result is invalid" };
  }
}

const notReached =
  "it was not evaluated, because other files of the pack ended the process, took too long or have large results";

/**
 * Evaluates definition files of a pack, by their real paths, in a confined child process, and a new one if a file ends it. Trust
 * level: inspection; none of the pack's code runs in this process. Errors become reasons. The results are by path as in the request;
 * values are plain data, and a function appears as `{ "$function": name }`.
 */
export async function evaluateConfined(
  { packageRoot, files }: { packageRoot: string; files: readonly string[] },
  { requireConfinement = false, hasNetwork = false, signal, limits: own }: EvaluationOptions = {},
) {
  if (requireConfinement && permissionOption === undefined)
    throw failure("ConfinementUnavailable", { required: true });
  const limits = { ...defaultLimits, ...own };
  const results = new Map<string, EvaluatedFile>();
  const refuse = (reason: string, refused: readonly string[]) => {
    for (const file of refused) results.set(file, { reason });
  };
  const isIsolated = !hasNetwork && isolatesNetwork();
  const deadline = performance.now() + limits.packMs;
  let { packBytes } = limits;
  // Node's permission model treats * as a wildcard.
  let pending = packageRoot.includes("*") ? [] : files;
  if (pending.length === 0) refuse("its path contains a *", files);
  let temporary: string | undefined;
  try {
    temporary = makeTemporary("trailblaze-confined-");
    const run = { temporary, readable: findReadable(packageRoot), isIsolated, signal };
    while (pending.length > 0) {
      const wallMs = Math.ceil(Math.min(limits.wallMs, deadline - performance.now()));
      if (wallMs <= 0 || packBytes < 0 || signal?.aborted) {
        refuse(signal?.aborted ? interrupted : notReached, pending);
        break;
      }
      const bounds = { ...limits, wallMs, packBytes };
      const { answers, end } = await runChild({ ...run, files: pending, limits: bounds });
      for (const [index, answer] of answers.entries()) {
        const file = pending[index] ?? "";
        packBytes -= answer.json.length;
        results.set(file, await readAnswer(answer, file, deadline));
      }
      // An earlier file may have ended the child. The first file of a child is the culprit itself.
      if (answers.length === 0) refuse(end, pending.slice(0, 1));
      pending = pending.slice(answers.length || 1);
    }
  } catch {
    // There is no space for a folder, or no memory for a process.
    refuse(notStarted, pending);
  } finally {
    if (temporary !== undefined) removeTemporary(temporary);
  }
  const network = isIsolated ? "permission+netns" : "permission";
  const confinement: Confinement = permissionOption === undefined ? "none" : network;
  return { confinement, results };
}
