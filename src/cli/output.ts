// The only module that writes to stdout and stderr. The answer goes to stdout, everything else to stderr.
import { fstatSync, writeSync } from "node:fs";
import type { Writable } from "node:stream";
import { replaceUnprintable } from "../problems/hidden-characters.ts";
import type { TextStyle } from "./command.ts";
import { beginningOfCommand, disarmCommands, isRunByRunner } from "./log-commands.ts";

type Descriptor = 1 | 2;

/** Captured before a server replaces it to protect stdout. */
const writeBytes = writeSync;

/** The real streams, once code of packs may print to `process.stdout`. */
const reserved = new Map<Descriptor, Writable>();

// Creating `process.stdout` takes an eighth of Node's start-up time, so only terminals pay for it.
const terminalOf = (descriptor: Descriptor) => (descriptor === 1 ? process.stdout : process.stderr);
const streamOf = (descriptor: Descriptor): Writable => reserved.get(descriptor) ?? terminalOf(descriptor);

function isOfType(descriptor: Descriptor, type: "isCharacterDevice" | "isFile"): boolean {
  try {
    return fstatSync(descriptor)[type]();
  } catch {
    return false;
  }
}

const mayBeTerminal = (descriptor: Descriptor) => isOfType(descriptor, "isCharacterDevice");

/** Color and width apply only to a terminal, color only without `NO_COLOR`. */
function styleOf(descriptor: Descriptor): TextStyle {
  if (!mayBeTerminal(descriptor)) return { color: false, width: undefined };
  const { isTTY, columns } = terminalOf(descriptor);
  const color = isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
  return { color, width: isTTY ? columns || undefined : undefined };
}

/** Writes until everything is written or a non-blocking pipe is full. Returns the rest. */
function writeWhatFits(descriptor: Descriptor, bytes: Buffer): Buffer {
  let rest = bytes;
  try {
    while (rest.length > 0) rest = rest.subarray(writeBytes(descriptor, rest));
  } catch (error) {
    tolerateClosedPipe(error as NodeJS.ErrnoException);
  }
  return rest;
}

/** Exits quietly when the reader closes the pipe early, as `head` does. */
function tolerateClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit();
  if (error.code !== "EAGAIN") throw error;
}

/** Streams with a slow reader: later output must queue behind the earlier. */
const waiting = new Set<Descriptor>();

const endLine = (text: string) => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

const isInRunner = isRunByRunner(process.env);
/** The end of each stream's output, which the next part may complete to a command for the runner. */
const pending = new Map<Descriptor, string>();

/** Disarms commands to a CI runner in text that may come from packs. A runner does not read files. */
function disarm(descriptor: Descriptor, text: string): string {
  if (!isInRunner || isOfType(descriptor, "isFile")) return text;
  const before = pending.get(descriptor) ?? "";
  const disarmed = disarmCommands(text, before);
  pending.set(descriptor, beginningOfCommand(`${before}${disarmed}`));
  return disarmed;
}

function write(descriptor: Descriptor, text: string): void {
  const bytes = Buffer.from(text);
  const rest = waiting.has(descriptor) ? bytes : writeWhatFits(descriptor, bytes);
  if (rest.length === 0) return;
  const stream = streamOf(descriptor);
  if (!waiting.has(descriptor)) stream.on("error", tolerateClosedPipe);
  waiting.add(descriptor);
  stream.write(rest);
}

export const output = {
  stdoutStyle: (): TextStyle => styleOf(1),
  stderrStyle: (): TextStyle => styleOf(2),
  stderrIsTerminal: (): boolean => mayBeTerminal(2) && process.stderr.isTTY === true,
  /**
   * Call this before code of packs runs in this process. Until the process ends, what that code prints goes to stderr
   * with control characters escaped, and only the methods here reach stdout. Code that writes to the descriptor itself
   * is not stopped. Idempotent.
   */
  reserve: async (): Promise<void> => {
    if (reserved.size > 0) return;
    const { reserveStdout } = await import("../mcp/stdio/reserve-stdout.ts");
    const { createEscapingStream } = await import("./session/format-result.ts");
    for (const descriptor of [1, 2] as const) {
      const terminal = terminalOf(descriptor);
      const escaping = createEscapingStream((text) => write(2, disarm(2, text)));
      reserved.set(descriptor, reserveStdout(terminal, escaping));
      // Escaped, the colors of `console` would show as text.
      if (terminal.isTTY) Object.assign(terminal, { getColorDepth: () => 1, hasColors: () => false });
    }
  },
  /** Prints the answer. In the log of a CI job, no line of it is a command. */
  answer: (text: string): void => write(1, disarm(1, endLine(text))),
  /** Prints an answer for programs unchanged: its format already escapes text from packs. */
  document: (text: string): void => write(1, endLine(text)),
  json: (document: unknown): void => write(1, endLine(formatJson(document))),
  /** Resolves when the readers have received everything. */
  drained: async (): Promise<void> => {
    const streams = [...waiting].map(streamOf);
    // `drain` is not emitted for less than a stream buffers.
    await Promise.all(
      streams.map((stream) => new Promise<void>((resolve) => stream.write("", () => resolve()))),
    );
  },
  /** Prints anything other than the answer, on stderr. */
  note: (text: string): void => write(2, disarm(2, endLine(text))),
};

function escapeUnits(text: string): string {
  return text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** JSON in which every unprintable character and every command to a CI runner is escaped. */
export function formatJson(document: unknown): string {
  const text = JSON.stringify(document, null, 2).replace(/(##\w*)\[/g, "$1\\u005b");
  return replaceUnprintable(text, escapeUnits);
}
