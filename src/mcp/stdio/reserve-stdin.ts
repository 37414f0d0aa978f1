import { Readable } from "node:stream";

/** What streams of a terminal, a pipe or a socket have besides. */
const besides = ["ref", "unref", "setRawMode", "setTimeout", "setNoDelay", "setKeepAlive"] as const;

/**
 * Takes stdin for the protocol: from now on `process.stdin` is a stream that is empty and ends at once, whatever is done
 * to it, and only the stream returned is the real one. To be called before code of others runs.
 *
 * Not reached is what goes round the stream: `fs.readSync(0)`, and children that inherit the descriptor. Where the
 * process has no other purpose, `reserveDescriptors` sees to them.
 */
export function reserveStdin(owner: { readonly stdin: Readable }): Readable {
  const { stdin } = owner;
  const empty = Readable.from([], { objectMode: false });
  for (const name of besides) {
    Object.defineProperty(empty, name, { value: () => empty, configurable: true, writable: true });
  }
  // Somebody's `destroy(error)` is nobody's business.
  empty.on("error", () => {});
  Object.defineProperty(owner, "stdin", { get: () => empty, configurable: true, enumerable: true });
  return stdin;
}
