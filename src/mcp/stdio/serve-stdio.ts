import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
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
  /** How long answers may take after the input has ended, and the server to close. Default: 2 s. */
  graceMs?: number;
}

export interface ServedOverStdio {
  /** Ends it after sending the answers that are already written. Idempotent. */
  close(): Promise<void>;
}

/** Serves one client over the streams until the input ends. The session id is a UUID. */
export async function serveStdio(
  create: CreateProtocolServer,
  options: ServeStdioOptions,
): Promise<ServedOverStdio> {
  const { input, output, onEnd, maxLineBytes = 10 * 1024 * 1024, graceMs = 2000 } = options;
  const { JSONRPCMessageSchema } = await import("@modelcontextprotocol/sdk/types.js");
  const isMessage = (value: unknown): value is JSONRPCMessage =>
    JSONRPCMessageSchema.safeParse(value).success;

  const sessionId = randomUUID();
  const server = create({ sessionId });
  const finish = async (why: StdioEnd): Promise<void> => {
    // After the input has ended, the client still waits for answers; after `close`, it does not.
    if (why === "input") await transport.untilAnswered(graceMs);
    // A server that does not close must not block the exit.
    await atMost(server.close(), graceMs);
    await transport.close();
    await transport.untilAnswered(graceMs);
    onEnd?.(why);
  };
  let ending: Promise<void> | undefined;
  const end = (why: StdioEnd): Promise<void> => {
    // Deferred, because closing calls this again.
    ending ??= Promise.resolve(why).then(finish);
    return ending;
  };
  const transport = new StdioTransport(sessionId, { input, output }, { maxLineBytes, isMessage }, (why) => {
    void end(why);
  });
  await server.connect(transport);
  return { close: () => end("closed") };
}
