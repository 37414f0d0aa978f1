import type { Readable, Writable } from "node:stream";
import { markIds, parseExactly, stringifyExactly } from "../../data/exact-integers.ts";
import { formatSize } from "../../problems/index.ts";
import { LineDecoder } from "../../runtime/line-decoder.mjs";
import { describeUnwritable } from "./copy-arguments.ts";
import { nestsDeeper } from "./json-depth.ts";
import { AnswerError } from "./json-rpc.ts";
import type { MessageTransport, OutgoingMessage } from "./mcp-client.ts";

export interface ChannelLimits {
  /** The longest message from the server, in bytes. */
  frameBytes: number;
  /** How many bytes may wait until the server reads them; a single message may be larger. */
  waitingBytes: number;
  /** How many arrays and objects of a message may be nested. */
  depth: number;
}

export interface ChannelListeners {
  /** Lines that are not MCP, of which the first few thousand bytes count. */
  onNoise(line: string): void;
  /** The server can no longer communicate. Called once. */
  onFault(reason: string): void;
}

/** Newline-delimited JSON over a process's pipes. Never throws for a message of the server. */
export interface StdioChannel extends MessageTransport {
  /** Sends a message whole or not at all, which rejects with `AnswerError`. */
  send(message: OutgoingMessage): void | Promise<void>;
  /** How many bytes were read in total. */
  bytesRead(): number;
  /** Keeps reading but reports nothing more. */
  detach(): void;
}

const noiseBytes = 4096;
const refusalMs = 250;

/** Opens the channel and starts reading. */
export function openStdioChannel(
  { stdin, stdout }: { stdin: Writable; stdout: Readable },
  limits: ChannelLimits,
  listeners: ChannelListeners,
): StdioChannel {
  let isOpen = true;
  let noiseLeft = noiseBytes;
  let read = 0;

  const fail = (reason: string) => {
    if (!isOpen) return;
    isOpen = false;
    stdout.destroy();
    listeners.onFault(reason);
  };
  const reportNoise = (line: Buffer) => {
    if (noiseLeft <= 0) return;
    listeners.onNoise(line.toString("utf8", 0, noiseLeft));
    noiseLeft -= line.length;
  };
  const accept = (value: unknown, line: Buffer) => {
    if (isOpen && channel.onmessage?.(markIds(value)) === false) reportNoise(line);
  };
  const onLine = (line: Buffer) => {
    if (!isOpen) return;
    if (nestsDeeper(line, limits.depth)) {
      return fail(`it sent a message that is nested more than ${limits.depth} levels deep`);
    }
    const text = line.toString("utf8").replace(/^\uFEFF/, "");
    let value: unknown;
    try {
      value = parseExactly(text);
    } catch {
      if (text.trim() !== "") reportNoise(line);
      return;
    }
    // MCP 2025-03-26 has batches.
    if (Array.isArray(value)) for (const member of value) accept(member, line);
    else accept(value, line);
  };
  const decoder = new LineDecoder(limits.frameBytes, {
    onLine,
    onTooLong: () => fail(`it sent a message of more than ${formatSize(limits.frameBytes)}`),
  });
  stdout.on("data", (chunk: Buffer) => {
    read += chunk.length;
    if (isOpen) decoder.push(chunk);
  });
  // What it wrote last may have no line end.
  stdout.on("end", () => decoder.push(Buffer.from("\n")));

  /** Delayed, so that an exit is noticed first: it is the better reason. */
  const refuse = (fault: string) =>
    new Promise<never>((_resolve, reject) => {
      setTimeout(() => reject(new AnswerError(fault)), refusalMs);
    });
  const channel: StdioChannel = {
    send(message) {
      if (!isOpen) return;
      if (!stdin.writable) return refuse("it has closed its input");
      let line: string;
      try {
        line = `${stringifyExactly(message)}\n`;
      } catch (error) {
        return refuse(`the call cannot be written as JSON: ${describeUnwritable(error)}`);
      }
      const waiting = stdin.writableLength;
      if (waiting > 0 && waiting + line.length > limits.waitingBytes) {
        const limit = formatSize(limits.waitingBytes);
        return refuse(`it does not read its input; at most ${limit} may wait for it`);
      }
      // What is sent in one turn is written at once, which costs both sides one system call instead of one a message.
      if (stdin.writableCorked === 0) {
        stdin.cork();
        process.nextTick(() => stdin.uncork());
      }
      stdin.write(line);
    },
    bytesRead: () => read,
    detach() {
      isOpen = false;
    },
  };
  return channel;
}
