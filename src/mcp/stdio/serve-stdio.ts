import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { atMost } from "../../runtime/abort-listeners.ts";
import type { CreateProtocolServer } from "../protocol-server.ts";
import { type StdioEnd, StdioTransport } from "./stdio-transport.ts";

export interface ServeStdioOptions {
  input: Readable;
  /** The return value of `reserveStdout` if it is stdout. */
  output: Writable;
  /** Called once, after the server is closed. */
  onEnd?(end: StdioEnd): void;
  /** The longest message of a client, in bytes. Default: 10 MiB. */
  maxLineBytes?: number;
  /** How long answers may take after the input has ended. Default: `graceMs`. */
  drainMs?: number;
  /** How long the server may take to close. Default: 2 s. */
  graceMs?: number;
}

export interface ServedOverStdio {
  /**
   * Resolves when no request is open, at the latest after `limitMs`. After the end of the input, which has waited for them already, it
   * resolves at once.
   */
  drain(limitMs: number): Promise<void>;
  /** Ends it after sending the answers that are already written. Idempotent. */
  close(): Promise<void>;
}

/** Serves one client over the streams until the input ends. The session id is a UUID. */
export async function serveStdio(
  create: CreateProtocolServer,
  options: ServeStdioOptions,
): Promise<ServedOverStdio> {
  const { input, output, onEnd, maxLineBytes = 10 * 1024 * 1024, graceMs = 2000 } = options;
  const { drainMs = graceMs } = options;
  const sessionId = randomUUID();
  const server = create({ sessionId });
  const finish = async (why: StdioEnd): Promise<void> => {
    // After the input has ended, the client still waits for answers; after `close`, it does not.
    if (why === "input") await Promise.race([transport.untilAnswered(drainMs), hurried]);
    // A server that does not close must not block the exit.
    await atMost(server.close(), graceMs);
    await transport.close();
    await transport.untilAnswered(graceMs);
    onEnd?.(why);
  };
  let hurry = () => {};
  const hurried = new Promise<void>((resolve) => {
    hurry = resolve;
  });
  let ending: Promise<void> | undefined;
  const end = (why: StdioEnd): Promise<void> => {
    // Deferred, because closing calls this again.
    ending ??= Promise.resolve(why).then(finish);
    return ending;
  };
  const transport = new StdioTransport(sessionId, { input, output }, maxLineBytes, (why) => {
    void end(why);
  });
  await server.connect(transport);
  return {
    async drain(limitMs) {
      if (ending !== undefined) return;
      await Promise.race([transport.untilAnswered(limitMs), hurried]);
    },
    close: () => {
      hurry();
      return end("closed");
    },
  };
}
