import { Writable } from "node:stream";

/** What else would end or hold the stream that the protocol goes through. */
const calming = ["end", "destroy", "cork", "uncork", "destroySoon"] as const;

/**
 * Takes stdout for the protocol: from now on whatever is printed, by `console` or to the stream itself, goes to
 * stderr, and only the writer returned reaches stdout. To be called before code of others runs.
 *
 * Not reached is what goes round the stream: `fs.writeSync(1, …)`, and children that inherit the descriptor. Where the
 * process has no other purpose, `reserveDescriptors` sees to them.
 */
export function reserveStdout(stdout: Writable, stderr: Writable): Writable {
  const write = stdout.write.bind(stdout);
  const toStderr = stderr.write.bind(stderr);
  const writer = new Writable({
    decodeStrings: false,
    write: (chunk: Uint8Array | string, encoding, done) => {
      write(chunk, encoding, (error) => done(error));
    },
  });
  // That a reader has gone is told to whom the writer was handed; unheard, the events would end the process.
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
