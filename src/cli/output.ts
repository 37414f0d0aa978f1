// The only module that writes to stdout and stderr. A command's result goes to stdout, everything else to stderr.
import { fstatSync, writeSync } from "node:fs";
import type { Writable } from "node:stream";
import { escapeJson, withSlashes } from "../problems/hidden-characters.ts";
import type { TextStyle } from "./command.ts";

/** Set by CI runners that read commands from a job's output: GitHub, Gitea and Forgejo, Azure, TeamCity. */
const runnerVariables = ["GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"];

export function isRunByRunner(env: NodeJS.ProcessEnv): boolean {
  return runnerVariables.some((name) => env[name] !== undefined && env[name] !== "" && env[name] !== "false");
}

/** `##[group]`, `##vso[task.setvariable …]`, `##teamcity[…]`: a command anywhere in a line. */
const bracketed = /(##\w*)\[/g;

/** `::add-mask::…` at the start of a line, after any white space. */
const leading = /^([^\S\n]*:):/gm;

/** Escapes the character that completes each command as `\u{…}`, like unprintable characters. */
export const disarmCommands = (text: string): string =>
  text.replace(leading, "$1\\u{003a}").replace(bracketed, "$1\\u{005b}");

type Descriptor = 1 | 2;
export type Write = (descriptor: Descriptor, text: string) => void;

let redirected: Write | undefined;

/** A server later replaces `writeSync` to protect stdout. */
const writeBytes = writeSync;

/** The real streams, after `reserve` has replaced `process.stdout` for the code of packs. */
const reserved = new Map<Descriptor, Writable>();

// Creating `process.stdout` takes an eighth of Node's start-up time, so it is done only for terminals.
const terminalOf = (descriptor: Descriptor) => (descriptor === 1 ? process.stdout : process.stderr);
const streamOf = (descriptor: Descriptor): Writable => reserved.get(descriptor) ?? terminalOf(descriptor);

function isOfType(descriptor: Descriptor, type: "isCharacterDevice" | "isFile"): boolean {
  try {
    return fstatSync(descriptor)[type]();
  } catch {
    return false;
  }
}

const mayBeTerminal = (descriptor: Descriptor) =>
  redirected === undefined && isOfType(descriptor, "isCharacterDevice");

/** Only a terminal has a width and, without `NO_COLOR`, colors. */
function styleOf(descriptor: Descriptor): TextStyle {
  if (!mayBeTerminal(descriptor)) return { color: false, width: undefined };
  const { isTTY, columns } = terminalOf(descriptor);
  const color = isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
  return { color, width: isTTY ? columns || undefined : undefined };
}

/** Returns the rest when a non-blocking pipe is full. */
function writeWhatFits(descriptor: Descriptor, bytes: Buffer): Buffer {
  let rest = bytes;
  try {
    while (rest.length > 0) rest = rest.subarray(writeBytes(descriptor, rest));
  } catch (error) {
    tolerateClosedPipe(error as NodeJS.ErrnoException);
  }
  return rest;
}

let isReaderGone = false;

/** Exits without an error when the reader closes the pipe early, as `head` does. */
function tolerateClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") {
    isReaderGone = true;
    process.exit();
  }
  if (error.code !== "EAGAIN") throw error;
}

/** Streams with a slow reader, whose later output must queue behind the earlier. */
const waiting = new Set<Descriptor>();

const endLine = (text: string) => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

/** Escapes commands for a CI runner in text that may come from packs. Output to a file needs no escaping. */
function disarm(descriptor: Descriptor, text: string): string {
  const isLog = redirected !== undefined || !isOfType(descriptor, "isFile");
  return isLog && isRunByRunner(process.env) ? disarmCommands(text) : text;
}

function write(descriptor: Descriptor, text: string): void {
  if (redirected !== undefined) {
    redirected(descriptor, text);
    return;
  }
  const bytes = Buffer.from(text);
  const rest = waiting.has(descriptor) ? bytes : writeWhatFits(descriptor, bytes);
  if (rest.length === 0) return;
  const stream = streamOf(descriptor);
  if (!waiting.has(descriptor)) stream.on("error", tolerateClosedPipe);
  waiting.add(descriptor);
  stream.write(rest);
}

/** The keys of our documents whose values are paths, also in the members of these arrays. */
const pathKeys = /^(?:project|location|file|backup|folder|index|directory|userFile|projectFile|lockFile)$/;
const arrays = /^(?:packs|clients|results|files|servers)$/;

/** A document with `/` in its paths. What other keys have may be a pack's. */
export function writePaths(document: object): object {
  const entries = Object.entries(document).map(([key, value]) => {
    if (arrays.test(key) && Array.isArray(value))
      return [key, value.map((member) => (member instanceof Object ? writePaths(member) : member))];
    return [key, pathKeys.test(key) && typeof value === "string" ? withSlashes(value) : value];
  });
  return Object.fromEntries(entries);
}

export const output = {
  /** Whether the process ends because a reader has closed its pipe. */
  isReaderGone: (): boolean => isReaderGone,
  stdoutStyle: (): TextStyle => styleOf(1),
  stderrStyle: (): TextStyle => styleOf(2),
  stdoutIsTerminal: (): boolean => mayBeTerminal(1) && process.stdout.isTTY === true,
  stderrIsTerminal: (): boolean => mayBeTerminal(2) && process.stderr.isTTY === true,
  /** From then on, all output goes to `write`, as if that were no terminal, and `reserve` leaves the process's streams. */
  redirect: (write: Write): void => {
    redirected = write;
  },
  /**
   * Must be called before code of packs runs in this process. From then on, output of that code goes to stderr with control
   * characters escaped, and only the methods here write to stdout. Code that writes to the file descriptor directly is not
   * redirected. Idempotent.
   */
  reserve: async (): Promise<void> => {
    if (redirected !== undefined || reserved.size > 0) return;
    const { reserveStdout } = await import("../mcp/stdio/reserve-streams.ts");
    const { Writable } = await import("node:stream");
    const { StringDecoder } = await import("node:string_decoder");
    const { printableLines } = await import("../problems/text.ts");
    for (const descriptor of [1, 2] as const) {
      const terminal = terminalOf(descriptor);
      const decoder = new StringDecoder("utf8");
      const escaping = new Writable({
        write(chunk: Buffer, _encoding, done) {
          write(2, disarm(2, printableLines(decoder.write(chunk))));
          done();
        },
      });
      reserved.set(descriptor, reserveStdout(terminal, escaping));
      // Otherwise, the escaped color codes of `console` would appear as text.
      if (terminal.isTTY) Object.assign(terminal, { getColorDepth: () => 1, hasColors: () => false });
    }
  },
  /** Prints the result. In the log of a CI job, none of its lines is a command. */
  answer: (text: string): void => write(1, disarm(1, endLine(text))),
  /** Prints a result unchanged, because its format already escapes commands for CI runners. */
  document: (text: string): void => write(1, endLine(text)),
  json: (document: object | string): void => {
    const text = typeof document === "string" ? escapeJson(document) : formatJson(writePaths(document));
    write(1, endLine(text));
  },
  /** Resolves when the readers have received everything. */
  drained: async (): Promise<void> => {
    const streams = [...waiting].map(streamOf);
    // `drain` is not emitted if less is written than a stream buffers.
    await Promise.all(
      streams.map((stream) => new Promise<void>((resolve) => stream.write("", () => resolve()))),
    );
  },
  note: (text: string): void => write(2, disarm(2, endLine(text))),
};

/** Formats JSON with every unprintable character and every command for a CI runner escaped. */
export const formatJson = (document: unknown): string => escapeJson(JSON.stringify(document, null, 2));
