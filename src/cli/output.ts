// The one module that writes to stdout and stderr. stdout belongs to machines and to the answer, stderr to everything
// else that people read.
import { fstatSync, writeSync } from "node:fs";
import type { Writable } from "node:stream";
import { replaceUnprintable } from "../problems/hidden-characters.ts";
import type { TextStyle } from "./command.ts";
import { beginningOfCommand, disarmCommands, isRunByRunner } from "./log-commands.ts";

type Descriptor = 1 | 2;

/** Node's own, also where a server keeps others from descriptor 1. */
const writeBytes = writeSync;

/** The ways to the real streams, once packs' code may be running. */
const reserved = new Map<Descriptor, Writable>();

// Making `process.stdout` takes an eighth of the time that Node needs to start, so that is left to terminals.
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

/** Colour and width: both only for a terminal, colour only without `NO_COLOR`. */
function styleOf(descriptor: Descriptor): TextStyle {
  if (!mayBeTerminal(descriptor)) return { color: false, width: undefined };
  const { isTTY, columns } = terminalOf(descriptor);
  const color = isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
  return { color, width: isTTY ? columns || undefined : undefined };
}

/** Writes until all is written or a pipe that does not block is full; gives what is left. */
function writeWhatFits(descriptor: Descriptor, bytes: Buffer): Buffer {
  let rest = bytes;
  try {
    while (rest.length > 0) rest = rest.subarray(writeBytes(descriptor, rest));
  } catch (error) {
    tolerateClosedPipe(error as NodeJS.ErrnoException);
  }
  return rest;
}

/** A reader that goes away early, as `head` does, is no failure. */
function tolerateClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit();
  if (error.code !== "EAGAIN") throw error;
}

/** Streams that wait for a slow reader: what comes later must wait behind it. */
const waiting = new Set<Descriptor>();

const endLine = (text: string) => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

const isRead = isRunByRunner(process.env);
/** What each stream's line may begin a command with, which can come in parts. */
const begun = new Map<Descriptor, string>();

/** Text for people, which may be that of others. What goes to a file is not read by a runner. */
function forPeople(descriptor: Descriptor, text: string): string {
  if (!isRead || isOfType(descriptor, "isFile")) return text;
  const before = begun.get(descriptor) ?? "";
  const disarmed = disarmCommands(text, before);
  begun.set(descriptor, beginningOfCommand(`${before}${disarmed}`));
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
   * To be called before code of packs is run in this process: what that prints goes to stderr, with everything escaped
   * that acts on terminals, and only the methods here reach stdout. It holds until the process ends, as such code may
   * print when nobody waits for it any more. Code that writes to the descriptor itself is not held up. Idempotent.
   */
  reserve: async (): Promise<void> => {
    if (reserved.size > 0) return;
    const { reserveStdout } = await import("../mcp/stdio/reserve-stdout.ts");
    const { createEscapingStream } = await import("./session/format-result.ts");
    for (const descriptor of [1, 2] as const) {
      const terminal = terminalOf(descriptor);
      const escaping = createEscapingStream((text) => write(2, forPeople(2, text)));
      reserved.set(descriptor, reserveStdout(terminal, escaping));
      // What `console` colours would show its colours as text.
      if (terminal.isTTY) Object.assign(terminal, { getColorDepth: () => 1, hasColors: () => false });
    }
  },
  /** The answer itself. In the log of a CI job, no line of it is a command. */
  answer: (text: string): void => write(1, forPeople(1, endLine(text))),
  /** An answer in the words of a machine, which those of others cannot get out of. */
  document: (text: string): void => write(1, endLine(text)),
  json: (document: unknown): void => write(1, endLine(formatJson(document))),
  /** Resolves when everything that was written is with whoever reads it. */
  drained: async (): Promise<void> => {
    const streams = [...waiting].map(streamOf);
    // No `drain` is emitted where less waits than a stream would hold.
    await Promise.all(
      streams.map((stream) => new Promise<void>((resolve) => stream.write("", () => resolve()))),
    );
  },
  /** What people should know besides the answer. */
  note: (text: string): void => write(2, forPeople(2, endLine(text))),
};

function escapeUnits(text: string): string {
  return text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** One JSON document in which every character shows, and nothing is a command in the log of a CI job. */
export function formatJson(document: unknown): string {
  const text = JSON.stringify(document, null, 2).replace(/(##\w*)\[/g, "$1\\u005b");
  return replaceUnprintable(text, escapeUnits);
}
