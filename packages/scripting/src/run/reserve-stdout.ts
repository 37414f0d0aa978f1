import type { Writable } from "node:stream";

/** Writes protocol messages. */
export type Write = (chunk: string, done: (error?: Error | null) => void) => boolean;

/**
 * Reserves stdout for the protocol: everything that `console` or code prints goes to stderr, and only the returned
 * function writes to stdout. It does not cover writes to descriptor 1 and children that inherit it.
 */
export function reserveStdout(stdout: Writable, stderr: Writable): Write {
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr) as Writable["write"];
  // Code must not end or block the protocol's stream.
  stdout.end = (() => stdout) as Writable["end"];
  stdout.cork = () => {};
  stdout.uncork = () => {};
  // A closed reader must not end the process; the end of the input does.
  stdout.on("error", () => {});
  stderr.on("error", () => {});
  return (chunk, done) => write(chunk, "utf8", done);
}
