// The one module that writes to stdout and stderr. stdout belongs to machines and to the answer, stderr to everything
// else that people read.
import type { TextStyle } from "./command.ts";

type Stream = NodeJS.WriteStream;

/** DEL, C1 controls, invisible and bidirectional characters: legal in JSON, but they act on a terminal. */
const actingCharacters =
  /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

function escapeUnit(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** One JSON document that no terminal acts on. */
export function formatJson(document: unknown): string {
  return JSON.stringify(document, null, 2).replace(actingCharacters, escapeUnit);
}

/** Colour and width of a stream: both only for a terminal, colour only without `NO_COLOR`. */
function styleOf(stream: Stream): TextStyle {
  const color = stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
  return { color, width: stream.isTTY ? stream.columns : undefined };
}

function writeLine(stream: Stream, text: string): void {
  stream.write(text === "" || text.endsWith("\n") ? text : `${text}\n`);
}

export const output = {
  stdoutStyle: (): TextStyle => styleOf(process.stdout),
  stderrStyle: (): TextStyle => styleOf(process.stderr),
  /** The answer itself. */
  answer: (text: string): void => writeLine(process.stdout, text),
  json: (document: unknown): void => writeLine(process.stdout, formatJson(document)),
  /** What people should know besides the answer. */
  note: (text: string): void => writeLine(process.stderr, text),
  /** A reader that goes away early, as `head` does, is no failure. */
  tolerateClosedPipe(): void {
    for (const stream of [process.stdout, process.stderr]) {
      stream.on("error", (error: NodeJS.ErrnoException) => {
        if (error.code !== "EPIPE") throw error;
        process.exit();
      });
    }
  },
};
