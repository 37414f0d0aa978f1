// For a process whose stdin and stdout are a protocol's: what goes round `process.stdin` and `process.stdout`. The
// functions of Node are replaced, which only a process may do that has no other purpose.
import childProcess from "node:child_process";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { devNull } from "node:os";

const [stdin, stdout, stderr] = [0, 1, 2];

type AnyFunction = (...args: unknown[]) => unknown;
type Functions = Record<string, AnyFunction>;

const descriptorOf = (target: unknown): unknown =>
  typeof target === "object" && target !== null ? (target as { fd?: unknown }).fd : target;

/** What a child gets as its descriptor `index`: nothing of stdin, and stderr for stdout. */
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

/** Puts a function in the place of another, with whatever properties that had. */
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
/** Without `read`, by which `process.stdin` itself reads a file. */
const readers = ["readSync", "readvSync", "readFile", "readFileSync"];

/**
 * From now on what is written to descriptor 1 goes to stderr, descriptor 0 is empty, and so are they for children that
 * are to inherit them. To be called before code of others runs, after `process.stdout` was used. Not reached is code in
 * worker threads and native code, and who opens `/dev/stdout`.
 */
export function reserveDescriptors(): void {
  const nothing = fs.openSync(devNull, "r");
  for (const name of [...writers, ...fileWriters]) {
    replace(fs, name, ([target, ...rest]) => [target === stdout ? stderr : target, ...rest]);
  }
  for (const name of readers) {
    replace(fs, name, ([target, ...rest]) => [target === stdin ? nothing : target, ...rest]);
  }
  // All that run a child and do not wait come to this one.
  replace(childProcess.ChildProcess.prototype, "spawn", (args) => args.map(redirectStdio));
  for (const name of ["spawnSync", "execSync", "execFileSync"]) {
    replace(childProcess, name, (args) => args.map(redirectStdio));
  }
  syncBuiltinESMExports();
}
