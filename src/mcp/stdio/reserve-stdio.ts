import { Readable, Writable } from "node:stream";

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

/** Methods that would end or block the protocol's stream. */
const calming = ["end", "destroy", "cork", "uncork", "destroySoon"] as const;

/**
 * Reserves stdout for the protocol: everything that `console` or code prints goes to stderr, and only the returned
 * writer reaches stdout. Call it before code of others runs.
 *
 * It does not cover `fs.writeSync(1, …)` and children that inherit the descriptor. `reserveDescriptors` does, in a
 * process that has no other purpose.
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
  for (const name of calming) {
    if (!(name in stdout)) continue;
    const value =
      name === "end"
        ? (...args: unknown[]) => {
            const [chunk] = args;
            if (typeof chunk === "string" || chunk instanceof Uint8Array) toStderr(chunk);
            return stdout;
          }
        : () => stdout;
    Object.defineProperty(stdout, name, { value, configurable: true, writable: true });
  }
  return writer;
}
