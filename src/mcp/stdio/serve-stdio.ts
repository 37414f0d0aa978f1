import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { atMost } from "../../runtime/abort-listeners.ts";
import type { CreateProtocolServer } from "../protocol-server.ts";
import { type StdioEnd, StdioTransport } from "./stdio-transport.ts";

export interface ServeStdioOptions {
  input: Readable;
  /** What `reserveStdout` returned, where it is stdout. */
  output: Writable;
  /** Called once, after the server was closed. */
  onEnd?(end: StdioEnd): void;
  /** The longest message of a client. 10 MiB. */
  maxLineBytes?: number;
  /** How long answers to requests that came may take after the end of the input, and the server to close. 2 s. */
  graceMs?: number;
}

export interface ServedOverStdio {
  /** Ends it, after the answers that are written already. Idempotent. */
  close(): Promise<void>;
}

/** Serves one client over the streams until the input ends. The session id is one UUID. */
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
    // A client that has said all waits for what is owed to it; one that is told to go does not.
    if (why === "input") await transport.untilAnswered(graceMs);
    // A server that does not end keeps nobody from leaving.
    await atMost(server.close(), graceMs);
    await transport.close();
    await transport.untilAnswered(graceMs);
    onEnd?.(why);
  };
  let ending: Promise<void> | undefined;
  const end = (why: StdioEnd): Promise<void> => {
    // Later, since closing comes back here.
    ending ??= Promise.resolve(why).then(finish);
    return ending;
  };
  const transport = new StdioTransport(sessionId, { input, output }, { maxLineBytes, isMessage }, (why) => {
    void end(why);
  });
  await server.connect(transport);
  return { close: () => end("closed") };
}
