// For a process whose stdin and stdout carry a protocol: covers code that bypasses `process.stdin` and
// `process.stdout`. It replaces functions of Node, which is acceptable only in a process without other purposes.
import childProcess from "node:child_process";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { devNull } from "node:os";

const [stdin, stdout, stderr] = [0, 1, 2];

type AnyFunction = (...args: unknown[]) => unknown;
type Functions = Record<string, AnyFunction>;

const descriptorOf = (target: unknown): unknown =>
  typeof target === "object" && target !== null ? (target as { fd?: unknown }).fd : target;

/** What a child gets as its descriptor `index`: nothing instead of stdin, stderr instead of stdout. */
function redirect(target: unknown, index: number): unknown {
  const descriptor = target === "inherit" ? index : descriptorOf(target);
  if (descriptor === stdin || target === process.stdin) return "ignore";
  return descriptor === stdout ? stderr : target;
}

function redirectStdio(options: unknown): unknown {
  if (typeof options !== "object" || options === null || !("stdio" in options)) return options;
  const { stdio } = options;
  if (stdio === "inherit") return { ...options, stdio: ["inherit", "inherit", "inherit"].map(redirect) };
  return Array.isArray(stdio) ? { ...options, stdio: stdio.map(redirect) } : options;
}

/** Replaces a function by a wrapper with the same properties. */
function replace(owner: object, name: string, change: (args: unknown[]) => unknown[]): void {
  const functions = owner as Functions;
  const original = functions[name];
  if (original === undefined) return;
  const changed = function (this: unknown, ...args: unknown[]) {
    return original.apply(this, change(args));
  };
  Object.defineProperties(changed, Object.getOwnPropertyDescriptors(original));
  functions[name] = changed;
}

const writers = ["write", "writeSync", "writev", "writevSync"];
const fileWriters = ["writeFile", "writeFileSync", "appendFile", "appendFileSync"];
/** Without `read`, which `process.stdin` itself uses for files. */
const readers = ["readSync", "readvSync", "readFile", "readFileSync"];

/**
 * Redirects writes to descriptor 1 to stderr and makes descriptor 0 empty, also for children that inherit them. Call it
 * before code of others runs, and after `process.stdout` was used. It does not cover worker threads, native code, and
 * code that opens `/dev/stdout`.
 */
export function reserveDescriptors(): void {
  const nothing = fs.openSync(devNull, "r");
  for (const name of [...writers, ...fileWriters]) {
    replace(fs, name, ([target, ...rest]) => [target === stdout ? stderr : target, ...rest]);
  }
  for (const name of readers) {
    replace(fs, name, ([target, ...rest]) => [target === stdin ? nothing : target, ...rest]);
  }
  // All asynchronous functions that run a child call this one.
  replace(childProcess.ChildProcess.prototype, "spawn", (args) => args.map(redirectStdio));
  for (const name of ["spawnSync", "execSync", "execFileSync"]) {
    replace(childProcess, name, (args) => args.map(redirectStdio));
  }
  syncBuiltinESMExports();
}
