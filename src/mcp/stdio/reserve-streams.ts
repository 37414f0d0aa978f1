// Reserves this process's standard streams for a protocol, before code of others runs.
import childProcess from "node:child_process";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { Readable, Writable } from "node:stream";

/**
 * Only the returned stream is the real stdin; `process.stdin` ends at once. Call it before code of others runs. It does not
 * cover `fs.readSync(0)`, and children that inherit the descriptor only with `reserveDescriptors`.
 */
function reserveStdin(owner: NodeJS.Process): Readable {
  const { stdin } = owner;
  const empty = Readable.from([], { objectMode: false });
  // Code that destroys the stream with an error must not end the process.
  empty.on("error", () => {});
  Object.defineProperty(owner, "stdin", { get: () => empty, configurable: true, enumerable: true });
  return stdin;
}

/**
 * Only the returned writer reaches stdout; what `console` or code prints goes to stderr. Call it before code of others runs. It
 * does not cover `fs.writeSync(1, …)` and children that inherit the descriptor, which `reserveDescriptors` does.
 */
export function reserveStdout(stdout: Writable, stderr: Writable): Writable {
  const write = stdout.write.bind(stdout);
  const toStderr = stderr.write.bind(stderr);
  const writer = new Writable({
    decodeStrings: false,
    write: (chunk: Uint8Array | string, encoding, done) => {
      write(chunk, encoding, (error) => done(error));
    },
    writev: (chunks, done) => {
      write(Buffer.concat(chunks.map(({ chunk }) => Buffer.from(chunk))), (error) => done(error));
    },
  });
  // The owner of the writer handles a closed reader; an unhandled event would end the process.
  writer.on("error", () => {});
  stdout.on("error", () => {});
  stdout.on("close", () => writer.destroy());
  stderr.on("error", () => {});
  stdout.write = toStderr as Writable["write"];
  // Both would end the protocol's stream.
  stdout.destroy = () => stdout;
  stdout.end = (chunk?: unknown) => {
    if (typeof chunk === "string" || chunk instanceof Uint8Array) toStderr(chunk);
    return stdout;
  };
  return writer;
}

const [stdin, stdout, stderr] = [0, 1, 2];

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
  const functions = owner as Record<string, (...args: unknown[]) => unknown>;
  const original = functions[name] as (typeof functions)[string];
  const changed = function (this: unknown, ...args: unknown[]) {
    return original.apply(this, change(args));
  };
  Object.defineProperties(changed, Object.getOwnPropertyDescriptors(original));
  functions[name] = changed;
}

const writers = ["write", "writeSync", "writev", "writevSync"];
const fileWriters = ["writeFile", "writeFileSync", "appendFile", "appendFileSync"];

/**
 * Redirects writes to descriptor 1 to stderr, also those of children, whose descriptor 0 is empty. Only for a process without other
 * purpose, because it replaces functions of Node, before code of others runs and after `process.stdout` was used. It does not
 * cover worker threads, native code, and code that opens `/dev/stdout`.
 */
function reserveDescriptors(): void {
  for (const name of [...writers, ...fileWriters]) {
    replace(fs, name, ([target, ...rest]) => [target === stdout ? stderr : target, ...rest]);
  }
  // All asynchronous functions that run a child call this one.
  replace(childProcess.ChildProcess.prototype, "spawn", (args) => args.map(redirectStdio));
  for (const name of ["spawnSync", "execSync", "execFileSync"]) {
    replace(childProcess, name, (args) => args.map(redirectStdio));
  }
  syncBuiltinESMExports();
}

let protocolInput: Readable | undefined;
let protocolOutput: Writable | undefined;

/**
 * The streams of the protocol. For stdio, everything that the process prints goes to stderr from now on, and its stdin is empty.
 * `ownsProcess`: also what code prints over HTTP, or without the streams. A process reserves them once.
 */
export function reserveStreams(owner: NodeJS.Process, isStdio: boolean, ownsProcess: boolean) {
  if (isStdio || ownsProcess) protocolOutput ??= reserveStdout(owner.stdout, owner.stderr);
  if (isStdio) protocolInput ??= reserveStdin(owner);
  if (isStdio && ownsProcess) reserveDescriptors();
  return { input: protocolInput ?? owner.stdin, output: protocolOutput ?? owner.stdout };
}
