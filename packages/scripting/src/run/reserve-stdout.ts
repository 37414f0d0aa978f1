import type { Writable } from "node:stream";

/** What protocol messages are written with. */
export type Write = (chunk: string, done: (error?: Error | null) => void) => boolean;

/**
 * Takes stdout for the protocol: from now on whatever is printed, by `console` or to the stream itself, goes to stderr,
 * and only the function returned reaches stdout. Not reached is what goes round the stream: writing to the descriptor 1,
 * and children that inherit it.
 */
export function reserveStdout(stdout: Writable, stderr: Writable): Write {
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr) as Writable["write"];
  // Whoever ends stdout or holds it back would end or hold the protocol.
  stdout.end = (() => stdout) as Writable["end"];
  stdout.cork = () => {};
  stdout.uncork = () => {};
  // That a reader has gone ends no process; the end of input does.
  stdout.on("error", () => {});
  stderr.on("error", () => {});
  return (chunk, done) => write(chunk, "utf8", done);
}
