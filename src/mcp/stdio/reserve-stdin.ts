import { Readable } from "node:stream";

/** Methods that the streams of terminals, pipes and sockets have in addition. */
const besides = ["ref", "unref", "setRawMode", "setTimeout", "setNoDelay", "setKeepAlive"] as const;

/**
 * Reserves stdin for the protocol: `process.stdin` becomes an empty stream that ends immediately, and only the returned
 * stream is the real one. Call it before code of others runs.
 *
 * It does not cover `fs.readSync(0)` and children that inherit the descriptor. `reserveDescriptors` does, in a process
 * that has no other purpose.
 */
export function reserveStdin(owner: { readonly stdin: Readable }): Readable {
  const { stdin } = owner;
  const empty = Readable.from([], { objectMode: false });
  for (const name of besides) {
    Object.defineProperty(empty, name, { value: () => empty, configurable: true, writable: true });
  }
  // Code that destroys the stream with an error must not end the process.
  empty.on("error", () => {});
  Object.defineProperty(owner, "stdin", { get: () => empty, configurable: true, enumerable: true });
  return stdin;
}
