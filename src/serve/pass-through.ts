import { Transform, type Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { failure } from "../problems/index.ts";
import { createProcessPort } from "../processes/server-process.ts";
import { atMost } from "../runtime/abort-listeners.ts";
import { createRedactor, type Redactor } from "../runtime/redact.ts";
import { createEnvironment } from "../runtime/server-environment.ts";
import type { ProgramPlan } from "../runtime/server-launches.ts";
import type { CommandServeOptions, RunningServer } from "./serve-options.ts";

/** How long its remaining output may take to be read after its exit. Milliseconds. */
const drainMs = 2000;

/** Without secrets: clients write what is on stderr to logs. */
function cleaning(redactor: Redactor): Transform {
  const cleaned = redactor.createStream();
  return new Transform({
    transform: (chunk, _encoding, done) => done(null, cleaned.push(chunk)),
    flush: (done) => done(null, cleaned.end()),
  });
}

const flush = (stream: Writable) => new Promise<void>((resolve) => stream.write("", () => resolve()));

/**
 * Runs a program with this process's own streams, unchanged but for secrets of files on stderr, until its input ends. Rejects with
 * `ServerStartFailed`, and with `InvalidArguments` for options that would change what it says; `ended` rejects if it exits with an
 * error.
 */
export async function passThrough(
  { command, args, cwd, label, fault, secrets, environment }: ProgramPlan,
  { protocol = "both", cacheTtl, drain = 2 }: Pick<CommandServeOptions, "protocol" | "cacheTtl" | "drain">,
): Promise<RunningServer> {
  if (fault !== undefined) throw fault;
  const unsupported = (option: string) =>
    failure("InvalidArguments", {
      reason: `${label} is a subprocess server, whose messages are passed on unchanged; ${option} is not supported`,
    });
  if (cacheTtl !== undefined) throw unsupported("--cache-ttl");
  if (protocol !== "both") throw unsupported(`--protocol ${protocol} over stdio`);
  const { stdin: input, stdout: output, stderr: error, env: hostEnvironment, platform } = process;
  // It has no session, so the session's variables are omitted.
  const env = createEnvironment(environment, { hostEnvironment, platform });
  const redactor = createRedactor(secrets);
  const starting = createProcessPort().start({ command, args, cwd, env });
  const child = await starting.catch(({ message }: Error) => {
    throw failure("ServerStartFailed", { label, reason: redactor.redact(message) });
  });
  let isClosing = false;
  let inputEndsAt = Number.POSITIVE_INFINITY;
  // When either side closes its stream, the other one sees the end of it.
  child.stdin.on("error", () => {});
  output.on("error", () => {
    // Keep reading and drop the output, so that the program does not block.
    child.stdout.resume();
    void close();
  });
  input.pipe(child.stdin);
  child.stdout.pipe(output, { end: false });
  const messages = secrets.length === 0 ? child.stderr : child.stderr.pipe(cleaning(redactor));
  messages.pipe(error, { end: false });
  const written = Promise.all([finished(child.stdout), finished(messages)])
    .catch(() => {})
    .then(() => Promise.all([flush(output), flush(error)]));
  const end = (inputMs?: number): Promise<void> => {
    isClosing = true;
    return child.end(inputMs);
  };
  const isEnding = () => isClosing || inputEndsAt !== Number.POSITIVE_INFINITY;
  // One that ends already is in a hurry.
  const close = () => end(isEnding() ? 0 : undefined);
  input.once("end", () => {
    inputEndsAt = performance.now() + drain * 1000;
    void child.end(drain * 1000);
  });
  const ended = child.exited.then(async (exit) => {
    input.unpipe(child.stdin);
    input.pause();
    // Output may still be in the pipes after the exit.
    await atMost(written, drainMs);
    const isTold = isClosing || performance.now() >= inputEndsAt;
    if (!isTold && exit.exitCode !== 0) throw failure("ServerDied", { label, exit, isServed: true });
  });
  // Its messages are not read: the program itself finishes its calls when its input ends.
  return { drain: async (seconds) => void (isEnding() || (await end(seconds * 1000))), close, ended };
}
